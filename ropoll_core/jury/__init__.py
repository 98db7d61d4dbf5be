"""Agreement as a verifier: consensus, the closed-form law, its floor, and when to trust it."""

from ropoll_core._results.jury import Consensus, Interval, LawFit
from ropoll_core._results.jury_uses import (
    BestPanel,
    BlindSpot,
    CandidateSelection,
    Cascade,
    SelectiveAccuracy,
)
from ropoll_core.jury._blind_spot import shared_blind_spot
from ropoll_core.jury._candidates import select_candidate
from ropoll_core.jury._consensus import consensus
from ropoll_core.jury._law import ConsensusLaw
from ropoll_core.jury._panels import best_panel
from ropoll_core.jury._selective import cascade, selective_accuracy

__all__ = [
    "BestPanel",
    "BlindSpot",
    "CandidateSelection",
    "Cascade",
    "Consensus",
    "ConsensusLaw",
    "Interval",
    "LawFit",
    "SelectiveAccuracy",
    "best_panel",
    "cascade",
    "consensus",
    "select_candidate",
    "selective_accuracy",
    "shared_blind_spot",
]

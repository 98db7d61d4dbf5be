"""Agreement as a verifier: consensus, the closed-form law and its floor."""

from ropoll_core.jury._consensus import consensus
from ropoll_core.jury._law import ConsensusLaw

__all__ = ["ConsensusLaw", "consensus"]

"""Agreement as a verifier: consensus, the closed-form law and its floor."""

"""Strategies for workloads that keep their meaning when user types are shifted: u ↦ u ⊕ t on bit masks."""

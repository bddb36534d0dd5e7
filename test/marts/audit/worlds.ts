/** The worlds of the quick audit: seed, scale, and the zone in which its days are counted. */
export const quickWorlds = [
  [1, 0.02, 'Europe/London'],
  [2, 0.02, 'Pacific/Auckland'],
] as const

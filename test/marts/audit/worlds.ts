/** The worlds of the audit, of which npm test has the first: seed, scale, and the zone in which its days are counted. */
export const auditWorlds = [
  [1, 0.02, 'Europe/London'],
  [2, 0.02, 'Pacific/Auckland'],
] as const

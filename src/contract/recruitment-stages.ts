/** Stages that a submitted worker passes, in the order of the contract. */
export const recruitmentStages = [
  'submitted',
  'cvReviewed',
  'interviewRequested',
  'interviewed',
  'offerMade',
  'offerAccepted',
  'offerRejected',
  'assigned',
  'missingCompliance',
] as const

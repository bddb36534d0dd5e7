/** The dimensions that pages are filtered by; each stands for the column NAME_id of a mart. */

export const filteredBy = ['company', 'project', 'site', 'agency', 'trade'] as const
export type FilteredBy = (typeof filteredBy)[number]

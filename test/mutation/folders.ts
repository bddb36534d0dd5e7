/** The folders whose decisions `npm run mutate` alters. */
export const folders = [
  'src/sync/paging',
  'src/sync/scan',
  'src/sync/deletions',
  'src/sync/snapshot',
  'src/sync/by-id',
  'src/load/merge',
  'src/load/read',
  'src/state/scans',
  'src/state/evidence',
  'src/api/budget',
  'src/api/client',
  'src/events',
  'src/crosscheck',
] as const

export type Folder = (typeof folders)[number]

export const folderOf = (file: string): Folder | undefined =>
  folders.find(folder => file.startsWith(`${folder}/`))

/** The rules tests in it judge the mutants. */
export const rulesFolder = process.env.MUSTER_RULES ?? 'test'

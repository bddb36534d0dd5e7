/** Searches a lake for damage: logs, files of a connection that are missing or altered, and what other programs wrote. */
import { MusterError } from '../lib/errors.ts'
import { type AddedFile, filesOf, requireOurs } from './actions.ts'
import { fingerprintTag, sha256Of, shaTag } from './files.ts'
import { type LakeContext, readLog } from './log.ts'
import { describeTable, folderOf, type LakeSnapshot } from './snapshots.ts'

export interface LakeDamage {
  readonly table: string
  /** The file, or the commit. */
  readonly place: string
  readonly found: string
  readonly next: string
}

const heals = 'run muster lake publish, which writes it again'

async function fileDamage(
  { store }: LakeContext,
  table: string,
  { path, size, tags }: AddedFile,
): Promise<LakeDamage | undefined> {
  const place = `${store.where}/${table}/${path}`
  if (!tags?.[fingerprintTag])
    return { table, place, found: 'another program wrote it', next: 'undo that there, and publish again' }
  const file = await store.fetch(`${table}/${path}`)
  if (file === undefined) return { table, place, found: 'missing', next: heals }
  const altered = 'its content is not what muster wrote'
  if ((await sha256Of(file)) === tags[shaTag]) return undefined
  return { table, place, found: `${altered} (${size} bytes)`, next: `remove it, and ${heals}` }
}

async function tableDamage(
  context: LakeContext,
  { connection, tables }: LakeSnapshot,
  name: string,
): Promise<LakeDamage[]> {
  const table = folderOf(name)
  const place = `${context.store.where}/${table}`
  try {
    const state = await readLog(context, table)
    if (state.version < 0) return [{ table: name, place, found: 'missing', next: heals }]
    requireOurs(state, place)
    const damage: LakeDamage[] = []
    for (const file of filesOf(state, connection)) {
      const found = await fileDamage(context, table, file)
      if (found) damage.push({ ...found, table: name })
    }
    const isAsPublished = describeTable(state, connection).sha256 === tables[name]?.sha256
    if (damage.length === 0 && !isAsPublished)
      return [{ table: name, place, found: 'its files are not those of the last snapshot', next: heals }]
    return damage
  } catch (error) {
    if (!(error instanceof MusterError)) throw error
    const { what, where = place, next = heals } = error.report
    return [{ table: name, place: where, found: what, next }]
  }
}

/** Reads every file of the last snapshot. */
export async function checkLake(context: LakeContext, snapshot: LakeSnapshot): Promise<LakeDamage[]> {
  const damage: LakeDamage[] = []
  for (const name of Object.keys(snapshot.tables))
    damage.push(...(await tableDamage(context, snapshot, name)))
  return damage
}

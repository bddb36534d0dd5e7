/** Whether the warehouse can be written; a file that is not there is left uncreated. */
import { existsSync, statSync } from 'node:fs'
import type { Engine } from '../../warehouse/engine.ts'
import { type Finding, failed, ok } from './finding.ts'

export interface WarehouseCheck {
  readonly finding: Finding
  /** Open for writing; undefined when there is no file, or it does not open. */
  readonly engine: Engine | undefined
}

/** `open` opens the file for writing: that it opens proves that nobody else holds it. */
export async function checkWarehouse(file: string, open: () => Promise<Engine>): Promise<WarehouseCheck> {
  if (!existsSync(file)) return { finding: ok('warehouse', `${file} will be created`), engine: undefined }
  try {
    const engine = await open()
    const size = `${(statSync(file).size / 1e6).toFixed(1)} MB`
    return { finding: ok('warehouse', `${file}, ${size}, can be written`), engine }
  } catch (error) {
    return { finding: failed('warehouse', error), engine: undefined }
  }
}

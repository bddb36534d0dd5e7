/** The landed pages without those who are forgotten: pages as they arrive, and all that are kept. */
import { findResource } from '../contract/catalogue.ts'
import type { Scrub } from '../landing/folder.ts'
import type { ScanFacts } from '../landing/scan-facts.ts'
import { type Forgotten, readForgotten } from '../state/privacy/forgotten.ts'
import type { Engine } from '../warehouse/engine.ts'
import { recogniserOf } from './recogniser.ts'
import type { FoundValues } from './record/scrub.ts'
import { scrubPage } from './record/scrub-page.ts'

/** `found` gets the values that pages give to the persons. */
export function scrubWith(forgotten: Forgotten, found?: FoundValues): Scrub {
  const recogniser = recogniserOf(forgotten)
  if (!recogniser) return bytes => bytes
  return (bytes, { resource, isById }: ScanFacts) =>
    scrubPage(bytes, recogniser, { resource: findResource(resource), isById: isById ?? false, found })
}

/** For the pages of a run. */
export const scrubOf = async (engine: Engine): Promise<Scrub> => scrubWith(await readForgotten(engine))

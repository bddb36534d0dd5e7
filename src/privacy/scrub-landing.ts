/** Removes forgotten persons from landed pages, both new and stored ones. */
import { findResource } from '../contract/catalogue.ts'
import type { Scrub } from '../landing/landing.ts'
import type { ScanRequest } from '../landing/manifest.ts'
import { type ForgottenValues, readForgotten } from '../state/privacy.ts'
import type { Engine } from '../warehouse/engine.ts'
import { recogniserOf } from './recogniser.ts'
import type { FoundValues } from './record/scrub.ts'
import { scrubPage } from './record/scrub-page.ts'

/** Adds to `found` the identifying values that pages give for these persons. */
export function scrubWith(forgotten: ForgottenValues, found?: FoundValues): Scrub {
  const recogniser = recogniserOf(forgotten)
  if (!recogniser) return bytes => bytes
  return (bytes, { resource, isById }: ScanRequest) =>
    scrubPage(bytes, recogniser, { resource: findResource(resource), isById: isById ?? false, found })
}

/** The scrub for pages that a run fetches. */
export const scrubOf = async (engine: Engine): Promise<Scrub> => scrubWith(await readForgotten(engine))

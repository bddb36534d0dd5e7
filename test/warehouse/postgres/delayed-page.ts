/** A sandbox that holds back one page for as long as a test likes. */
import type { SandboxOptions } from '../../../src/sandbox/server/settings.ts'
import { type OpenSandbox, openSandbox } from '../../sandbox/open-sandbox.ts'

function signal(): { readonly promise: Promise<void>; give(): void } {
  let give = (): void => undefined
  const promise = new Promise<void>(resolve => {
    give = resolve
  })
  return { promise, give: () => give() }
}

export interface HoldingSandbox extends OpenSandbox {
  /** Holds the answer to the next request for this page of timesheets. */
  hold(page: string): { readonly asked: Promise<void>; release(): void }
}

export async function openHoldingSandbox(options: SandboxOptions): Promise<HoldingSandbox> {
  let wanted = ''
  let asked = signal()
  let released = signal()
  const sandbox = await openSandbox({
    ...options,
    onRequest: async ({ query, path }) => {
      if (path !== '/timesheets' || query.limit !== '200' || query.page !== wanted) return
      wanted = ''
      asked.give()
      await released.promise
    },
  })
  return {
    ...sandbox,
    hold(page) {
      wanted = page
      asked = signal()
      released = signal()
      return { asked: asked.promise, release: released.give }
    },
  }
}

/** What clients asked, and which of it broke the contract. */
import type { SandboxRequest } from './options.ts'

export interface Breach extends SandboxRequest {
  readonly message: string
}

/** A sandbox left running forgets its oldest requests. */
const KEPT = 200_000

export class RequestLog {
  readonly requests: SandboxRequest[] = []
  readonly breaches: Breach[] = []

  note(request: SandboxRequest): void {
    if (this.requests.length >= KEPT) this.requests.splice(0, KEPT / 2)
    this.requests.push(request)
  }

  breach(request: SandboxRequest, message: string): void {
    if (this.breaches.length < KEPT) this.breaches.push({ ...request, message })
  }
}

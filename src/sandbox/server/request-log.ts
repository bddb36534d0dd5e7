/** What clients asked, and which answers a fault spoiled. */
import type { IncomingMessage } from 'node:http'
import type { SandboxRequest } from './settings.ts'

/** A sandbox left running forgets its oldest requests. */
const KEPT = 200_000

type Entry = { -readonly [Name in keyof SandboxRequest]: SandboxRequest[Name] }

export class RequestLog {
  readonly requests: SandboxRequest[] = []
  private readonly entries = new WeakMap<IncomingMessage, Entry>()

  note(message: IncomingMessage, request: SandboxRequest): void {
    if (this.requests.length >= KEPT) this.requests.splice(0, KEPT / 2)
    const entry = { ...request }
    this.requests.push(entry)
    this.entries.set(message, entry)
  }

  /** The answer to this request was spoiled. */
  spoiled(message: IncomingMessage, fault: string): void {
    const entry = this.entries.get(message)
    if (entry) entry.fault = fault
  }
}

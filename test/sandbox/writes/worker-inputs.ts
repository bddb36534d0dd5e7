/** Bodies that pass every rule, to be made wrong in one place, and a client that writes. */
import { masterTrades, qualificationNamed } from '../../../src/sandbox/writes/lists.ts'
import type { Body } from '../open-sandbox.ts'

export const PDF = Buffer.from('%PDF-1.4\n%%EOF\n')
export const PNG = Buffer.from('\x89PNG\r\n\x1a\n0000', 'latin1')

export function dataUrl(bytes: Buffer, type = 'application/pdf'): string {
  return `data:${type};base64,${bytes.toString('base64')}`
}

export const pdf = { fileName: 'scan.pdf', content: dataUrl(PDF) }
export const png = { fileName: 'scan.png', content: dataUrl(PNG, 'image/png'), docType: 'front' }

let made = 0

/** Each call is another person. */
export function person(changes: Body = {}): Body {
  made += 1
  return {
    firstName: `First${made}`,
    lastName: `Last${made}`,
    dob: `19${60 + (made % 40)}-03-${10 + (made % 18)}`,
    email: `person.${made}@mail.example.com`,
    phone: `7700${String(900_000 + made)}`,
    countryCode: '+44',
    gender: 'Female',
    nationality: 'United Kingdom',
    nationalIns: `SX${String(700_000 + made)}C`,
    address: { lineOne: '1 High Street', city: 'Leeds', country: 'United Kingdom', code: 'LS1 1AA' },
    trades: [masterTrades[0]?.id],
    agencyId: `A-${made}`,
    consent: true,
    ...changes,
  }
}

export function document(name: string, changes: Body = {}): Body {
  const { id, expiry, minimumFiles } = qualificationNamed(name)
  return {
    documentId: id,
    ...(expiry === 'required' ? { expiration: '2030-05-31' } : {}),
    files: Array.from({ length: minimumFiles }, () => pdf),
    ...changes,
  }
}

interface Written {
  readonly status: number
  readonly body: Body
}

/** `target` is a method and a path: `POST /workers`. Text and bytes are sent as they are, all else as JSON. */
export function writer(baseUrl: string) {
  return async (target: string, body: unknown, key: string): Promise<Written> => {
    const [method = '', path = ''] = target.split(' ')
    const response = await fetch(baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    })
    return { status: response.status, body: await response.json() }
  }
}

/** Validates the bodies of POST and PATCH /workers, each field by its rule. A refusal names the field, never its value. */
import * as z from 'zod'
import { isDay } from '../../lib/dates.ts'
import { fieldPath } from '../../lib/text/field-path.ts'
import {
  isNationalInsurance,
  isPassportOrShareCode,
  isPps,
  plainNumber,
} from '../../lib/text/identity-number.ts'
import { ApiError, demand } from '../refusals.ts'
import { countries, fewOf, genders, masterTrades, telephoneCodes } from './lists.ts'

const longestText = 200

/** The reason for a value of another type. */
const unless = (kind: string) => ({
  error: (issue: { input?: unknown }) => (issue.input === undefined ? 'is required' : `is not ${kind}`),
})

export const text = z.string(unless('a text')).trim().min(1, 'is empty').max(longestText, 'is too long')

function listed(values: readonly string[], list: string) {
  return z
    .string(unless('a text'))
    .refine(value => values.includes(value), {
      error: `is not in the list of ${list}; ${fewOf(values)}`,
    })
    .meta({ enum: [...values] })
}

const tradeIds = new Set(masterTrades.map(({ id }) => id))
const tradeNames = masterTrades.map(({ id, name }) => `${id} (${name})`)

const day = z
  .string(unless('a date'))
  .refine(isDay, 'is not a date of the form YYYY-MM-DD')
  .meta({ format: 'date' })

const address = z
  .record(z.string(), z.unknown(), unless('an object'))
  .refine(value => Object.values(value).some(part => typeof part === 'string' && part.trim() !== ''), {
    error: 'is empty: give lineOne, city, country and code',
  })

const file = z.object(
  {
    fileName: text.optional(),
    content: z.string(unless('a text')).optional(),
    uploadToken: text.optional(),
    docType: text.optional(),
  },
  unless('an object'),
)

const newDocument = z.object(
  {
    documentId: text.optional(),
    documentNumber: text.optional(),
    expiration: day.optional(),
    files: z.array(file, unless('an array')).optional(),
  },
  unless('an object'),
)

const changedDocument = newDocument.extend({ id: text.optional() })

/** `agencyId` is the agency's own identifier of the worker. */
const personFields = {
  firstName: text,
  lastName: text,
  dob: day,
  email: z.string(unless('a text')).pipe(z.email('is not an e-mail address')),
  phone: text.regex(/^[\d\s()-]{5,20}$/, 'is not a telephone number without its country code'),
  countryCode: listed(telephoneCodes, 'telephone country codes'),
  gender: listed(genders, 'genders'),
  nationality: listed(countries, 'countries'),
  nationalIns: text.optional(),
  passportNo: text.optional(),
  address,
  trades: z
    .array(
      z.string(unless('a text')).refine(id => tradeIds.has(id), {
        error: `is not the id of a master trade; ${fewOf(tradeNames)}`,
      }),
      unless('an array'),
    )
    .min(1, 'is empty: give one or more master trade ids'),
  agencyId: text,
}

export const newWorker = z.strictObject(
  {
    ...personFields,
    consent: z.literal(true, unless('true: written consent must be held')),
    attachments: z.array(newDocument, unless('an array')).default([]),
    rightToWork: z.array(newDocument, unless('an array')).default([]),
  },
  unless('an object'),
)

export const changedWorker = z
  .strictObject(
    {
      ...z.object(personFields).partial().shape,
      active: z.boolean(unless('true or false')).optional(),
      attachments: z.array(changedDocument, unless('an array')).optional(),
      rightToWork: z.array(changedDocument, unless('an array')).optional(),
    },
    unless('an object'),
  )
  .refine(body => Object.keys(body).length > 0, 'has no supported field: at least one is required')

/** The identity numbers of a stored person are in the form of `plainNumber`. */
export type WorkerPerson = Omit<NewWorkerBody, 'consent' | 'attachments' | 'rightToWork' | 'agencyId'>
type NewWorkerBody = z.infer<typeof newWorker>
export type ChangedWorkerBody = z.infer<typeof changedWorker>
export type DocumentInput = z.infer<typeof changedDocument>
export type FileInput = z.infer<typeof file>

export const readNewWorker = (body: unknown, today: string): NewWorkerBody =>
  bornBefore(parseBody(newWorker, body), today)

export const readChangedWorker = (body: unknown, today: string): ChangedWorkerBody =>
  bornBefore(parseBody(changedWorker, body), today)

function bornBefore<Body extends { dob?: string | undefined }>(body: Body, today: string): Body {
  demand(body.dob === undefined || body.dob < today, 'dob: lies in the future')
  return body
}

/** 400 with every reason, each after the path of its field. */
export function parseBody<T extends z.ZodType>(schema: T, body: unknown): z.infer<T> {
  const parsed = schema.safeParse(body ?? undefined)
  if (parsed.success) return parsed.data
  const reasons = parsed.error.issues.map(issue =>
    issue.code === 'unrecognized_keys'
      ? `${fieldPath([...issue.path, issue.keys[0] ?? ''])}: is not a field of this body`
      : `${fieldPath(issue.path) || 'body'}: ${issue.message}`,
  )
  throw new ApiError(400, reasons.join('; '))
}

/** The identity numbers in one spelling. 400 when one is invalid, or when the one that the nationality needs is missing. */
export function checkedIdentity({
  nationality,
  nationalIns,
  passportNo,
}: Pick<WorkerPerson, 'nationality' | 'nationalIns' | 'passportNo'>) {
  const isIrish = nationality === 'Ireland'
  if (nationalIns === undefined) {
    demand(nationality !== 'United Kingdom', 'nationalIns: is required for nationality United Kingdom')
    demand(!isIrish, 'nationalIns: is required for nationality Ireland; a PPS number will do as well')
    demand(passportNo, 'passportNo: is required for this nationality, unless nationalIns is given')
  } else if (isIrish) {
    const isKnown = isNationalInsurance(nationalIns) || isPps(nationalIns)
    demand(isKnown, 'nationalIns: is neither a UK National Insurance number nor an Irish PPS number')
  } else {
    demand(isNationalInsurance(nationalIns), 'nationalIns: is not a UK National Insurance number')
  }
  const isPassport = passportNo === undefined || isPassportOrShareCode(passportNo)
  demand(isPassport, 'passportNo: is neither a passport number nor a share code')
  return {
    ...(nationalIns !== undefined && { nationalIns: plainNumber(nationalIns) }),
    ...(passportNo !== undefined && { passportNo: plainNumber(passportNo) }),
  }
}

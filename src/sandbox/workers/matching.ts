/** Whether two sets of details are of one person, as far as the sandbox decides it. */
import type { Person } from './worker.ts'

/** An exact identity number decides alone; else the sum of these has to reach MATCH. */
const WEIGHTS = { name: 2, dob: 2, email: 3, phone: 1 }
const MATCH = 4

export function isMatch(known: Person, given: Person): boolean {
  if (isSame(known.nationalIns, given.nationalIns) || isSame(known.passportNo, given.passportNo)) return true
  const agreeing = {
    name: isSame(fullName(known), fullName(given)),
    dob: known.dob === given.dob,
    email: isSame(known.email, given.email),
    phone: isSame(digitsOf(known), digitsOf(given)),
  }
  const score = Object.entries(WEIGHTS).reduce(
    (sum, [field, weight]) => sum + (agreeing[field as keyof typeof WEIGHTS] ? weight : 0),
    0,
  )
  return score >= MATCH
}

/** Case apart; two absent values are not the same. */
export function isSame(left: string | undefined, right: string | undefined): boolean {
  return left !== undefined && right !== undefined && left.toLowerCase() === right.toLowerCase()
}

function fullName({ firstName, lastName }: Person): string {
  return `${firstName} ${lastName}`
}

/** Without the zero that is dialled at home. */
function digitsOf({ countryCode, phone }: Person): string {
  return `${countryCode} ${phone.replace(/\D/g, '').replace(/^0/, '')}`
}

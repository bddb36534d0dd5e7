/** Every list that a write chooses from, for people who develop against the sandbox. */
import { qualifications } from './qualifications.ts'
import { countries, genders, masterTrades, telephoneCodes } from './reference-lists.ts'

export const allLists = { genders, countries, telephoneCodes, masterTrades, qualifications }

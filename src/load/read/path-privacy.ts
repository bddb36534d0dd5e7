/** What the words of a path say about the privacy of an undeclared value. */

/** Never stored: inputs that identify a person before the law, and secrets. Matched on the path in lower case. */
const denied =
  'dob$|dateofbirth|birthdate|gender|nationality|nationalins|nino$|passport|sharecode|apikey|secret|token$|password'

/** Kept in pii: what identifies or reaches a person, and where money goes. */
const personal =
  'name$|email|phone|mobile|address|line(one|two|1|2|3)$|postcode|account|sortcode|iban|utr$|vat$|contact|comment|message|notes?$|attachment|url$'

/** SQL conditions over an expression that holds the path. */
export const isDenied = (path: string): string => `regexp_matches(lower(${path}), '${denied}')`
export const isPersonal = (path: string): string => `regexp_matches(lower(${path}), '${personal}')`

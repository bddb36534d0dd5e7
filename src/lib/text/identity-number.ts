/** Checks identity numbers of workers: their published formats and, if there is one, the check character. */

/** Prefixes that are never issued, besides the letters excluded below. */
const neverIssued = /^(BG|GB|KN|NK|NT|TN|ZZ)/
const nationalInsurance = /^[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]$/
const ppsNumber = /^(\d{7})([A-W])([A-IW]?)$/
/** Passports have 6 to 9 characters; a share code has 9. */
const passportOrShareCode = /^[A-Z0-9]{6,9}$/

/** Removes spaces and hyphens and uses capitals, so that all spellings of a number are equal. */
export function plainNumber(text: string): string {
  return text.replace(/[\s-]+/g, '').toUpperCase()
}

/** UK National Insurance number. It has no check digit. */
export function isNationalInsurance(text: string): boolean {
  const plain = plainNumber(text)
  return nationalInsurance.test(plain) && !neverIssued.test(plain)
}

/** Irish PPS number: seven digits weighted 8 to 2, a second letter weighted 9, modulo 23 as a letter, W for 0. */
export function isPps(text: string): boolean {
  const [, digits = '', check = '', second = ''] = ppsNumber.exec(plainNumber(text)) ?? []
  if (digits === '') return false
  const sum = [...digits].reduce((total, digit, index) => total + Number(digit) * (8 - index), 0)
  const letter = second === '' || second === 'W' ? 0 : second.charCodeAt(0) - 64
  return check === ('WABCDEFGHIJKLMNOPQRSTUV'[(sum + letter * 9) % 23] as string)
}

export function isPassportOrShareCode(text: string): boolean {
  return passportOrShareCode.test(plainNumber(text))
}

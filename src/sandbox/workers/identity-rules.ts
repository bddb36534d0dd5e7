/** Which identity number a worker must have, by nationality. */
import { isNationalInsurance, isPassportOrShareCode, isPps, plainNumber } from '../../lib/identity-number.ts'
import { ApiError } from '../refusals/api-error.ts'

interface Identity {
  readonly nationality: string
  readonly nationalIns?: string | undefined
  readonly passportNo?: string | undefined
}

/** The numbers in one spelling. 400 when one has no valid form, or the one that the nationality asks for is missing. */
export function checkedIdentity({ nationality, nationalIns, passportNo }: Identity) {
  const isIrish = nationality === 'Ireland'
  if (nationalIns === undefined) requireOther(nationality, passportNo)
  else if (!isNationalInsurance(nationalIns) && !(isIrish && isPps(nationalIns))) {
    const kinds = isIrish ? 'a UK National Insurance number nor an Irish PPS number' : undefined
    throw new ApiError(
      400,
      `nationalIns: is ${kinds ? `neither ${kinds}` : 'not a UK National Insurance number'}`,
    )
  }
  if (passportNo !== undefined && !isPassportOrShareCode(passportNo)) {
    throw new ApiError(400, 'passportNo: is neither a passport number nor a share code')
  }
  return {
    ...(nationalIns === undefined ? {} : { nationalIns: plainNumber(nationalIns) }),
    ...(passportNo === undefined ? {} : { passportNo: plainNumber(passportNo) }),
  }
}

function requireOther(nationality: string, passportNo: string | undefined): void {
  if (nationality === 'United Kingdom') {
    throw new ApiError(400, 'nationalIns: is required for nationality United Kingdom')
  }
  if (nationality === 'Ireland') {
    throw new ApiError(400, 'nationalIns: is required for nationality Ireland; a PPS number will do as well')
  }
  if (passportNo === undefined) {
    throw new ApiError(400, 'passportNo: is required for this nationality, unless nationalIns is given')
  }
}

/** The fields of requisitions and timesheets that the metrics read. */

export interface Ref {
  readonly id: string
  readonly name: string
}

export interface StageTracking {
  readonly worker: Ref
  readonly agency: Ref
  readonly isRejected: boolean
  readonly stage: string
  readonly history: readonly { readonly stage: string; readonly at: string | null }[]
}

export interface MeasuredRequisition {
  readonly reference: string
  readonly status?: string
  readonly company?: Ref
  readonly project?: Ref
  readonly trade?: Ref
  readonly approvedDate?: string | null
  readonly startDate?: string
  readonly createdAt: string
  readonly agencies?: readonly (Ref & { readonly dateAccepted?: string | null })[]
  readonly stageTracking?: readonly StageTracking[]
}

export interface MeasuredTimesheet {
  readonly status?: string
  readonly worker?: Ref
  readonly company?: Ref
  readonly project?: Ref
  readonly agency?: Ref
  readonly weekEnding?: string
  readonly netHours?: number
  readonly timelogs?: readonly { readonly hours?: { readonly total?: number } }[]
}

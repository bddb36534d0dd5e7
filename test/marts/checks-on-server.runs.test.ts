import { describeChecks } from './check-suite.ts'

describeChecks('postgres')

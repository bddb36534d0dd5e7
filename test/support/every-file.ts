/** Vitest runs this before each test file. */
import { afterAll, afterEach } from 'vitest'
import { endFile, endTest } from './ends.ts'
import './thrown.ts'

afterEach(endTest)
afterAll(endFile)

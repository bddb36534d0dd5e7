/** For CI: makes the environment of test:airflow. Where there is no Python for it, or no PyPI, that is one line, and 75. */
import { NoEnvironment } from '../support/python-environment.ts'
import { virtualEnvironment } from './place.ts'

try {
  virtualEnvironment()
} catch (error) {
  if (!(error instanceof NoEnvironment)) throw error
  console.log(`The tests in Airflow were left out: ${error.message}`)
  process.exitCode = 75
}

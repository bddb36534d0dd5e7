/** For CI: fetches Spark for test:spark. Without Java, Maven or Python, or where they find nothing, that is one line, and 75. */
import { NoEnvironment } from '../support/python-environment.ts'
import { sparkPlace } from '../support/spark.ts'

try {
  sparkPlace()
} catch (error) {
  if (!(error instanceof NoEnvironment)) throw error
  console.log(`The marts on Spark were not tried: ${error.message}`)
  process.exitCode = 75
}

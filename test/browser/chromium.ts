/** The Chromium of the system; nothing is downloaded. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

export const chromiumFile = places.find(file => existsSync(file))

/** As root, Chromium has no sandbox of its own. */
export const openChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumFile ?? '', args: ['--no-sandbox'] })

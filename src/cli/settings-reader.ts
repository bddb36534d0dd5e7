/** Settings as commands ask for them: each way of reading them is read once. */

import {
  connectionNames,
  type Faulty,
  loadSettings,
  loadStored,
  loadStoredOfAll,
  type Settings,
  type SettingsOf,
  type StoredSettings,
} from '../config/settings.ts'
import { type FilesOfSettings, filesOfSettings } from '../config/source/files.ts'
import { hasSettings, type SettingsRequest } from '../config/source/found-source.ts'

export interface SettingsReader {
  /** Whether there is a file or a variable to read settings from, valid or not. */
  hasSettings(): boolean
  /** With the name of a connection, what that one alone names. */
  filesOfSettings(connection?: string): FilesOfSettings
  /** Of all connections, also of those whose settings are wrong. */
  connectionNames(): readonly string[]
  /** Read on the first call; later calls give the same settings. */
  settings(): Settings
  storedSettings(): StoredSettings
  /** With why some of them are wrong, which leaves the others alone. */
  storedSettingsOfAll(): StoredSettings & { readonly faulty: Faulty }
}

/** `told` is called with all that was read: it has warnings for people, and secrets to hide. */
export function settingsReader(
  request: SettingsRequest,
  told: (loaded: SettingsOf<unknown>) => void,
): SettingsReader {
  const once = <Loaded extends SettingsOf<unknown>>(load: (request: SettingsRequest) => Loaded) => {
    let loaded: Loaded | undefined
    return (): Loaded => {
      if (!loaded) {
        loaded = load(request)
        told(loaded)
      }
      return loaded
    }
  }
  return {
    hasSettings: () => hasSettings(request),
    filesOfSettings: connection => filesOfSettings(request, connection),
    connectionNames: () => connectionNames(request),
    settings: once(loadSettings),
    storedSettings: once(loadStored),
    storedSettingsOfAll: once(loadStoredOfAll),
  }
}

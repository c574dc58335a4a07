import { hkdfSync } from "node:crypto"
import type { Actor, Deed } from "../domain/audit.ts"
import type { Clock } from "../domain/clock.ts"
import type { Log } from "../domain/log.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import { putSetting, settingByKey } from "../store/catalog/settings.ts"
import type { Audit } from "./audit.ts"
import { ExitFault } from "./exit.ts"
import type { InstanceSettings } from "./instance-settings.ts"
import { countUnreadable, type Readability, type Resealed, sealAnew } from "./sealed-places.ts"
import { type FormerKey, type SecretKeys, writeSecretKeys } from "./secret-key.ts"
import { createSecrets, type KeptSecrets, keyName, type Random } from "./secrets.ts"

/** What a rotation has done. */
export interface Rotated extends Resealed {
  /** Until then cookies that the key before has signed are good. Absent: as long as the configuration names it. */
  previous_until?: string
}

/**
 * The keys of an instance, and another one in place of the current one. The catalog says which key seals: in one transaction all
 * values are sealed anew and the name of the key is written, with both keys in the file. A crash before it leaves the old key in
 * use, a crash after it leaves the new one, which the next start puts first.
 */
export interface KeyRotation {
  secrets: KeptSecrets
  /** Keys that sign cookies; the first one is used, the others still verify. It changes in place. */
  cookieSecrets: [string, ...string[]]
  /** Throws an `ExitFault` where the configuration holds the key and names none before it. */
  rotate(actor: Actor): Promise<Rotated>
  /** Looks at every sealed value: what nobody can open any more has lost its key. */
  look(): Promise<Readability>
  /** The current key in base64, with a row in the log that it was told. */
  export(actor: Actor): Promise<string>
}

interface KeyRotationOptions {
  dataDir: string
  keys: SecretKeys
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  log: Log
  audit: Pick<Audit, "write" | "writeAlone">
  settings: Pick<InstanceSettings, "get">
}

const BYTES = 32
const DAY_MS = 86_400_000
/** Where the catalog keeps the name of the key that seals. */
const MARK = "secret_key"

/** Puts in order what a rotation or the time has left; to be called before anything is sealed. */
export async function openKeys(options: KeyRotationOptions): Promise<KeyRotation> {
  const { dataDir, catalog, clock, random, log, audit } = options
  let keys = await settled(options)
  const secrets = createSecrets({ secretKey: keys.current, former: formerOf(keys), random })
  const cookieSecrets: [string, ...string[]] = [cookieSecret(keys.current), ...valid(keys, clock.now()).map(({ key }) => cookieSecret(key))]
  if (!keys.isConfigured && keys.former.some(({ until }) => until <= clock.now())) await retire()

  /** What an ended key has sealed is sealed anew before nobody knows the key any more. */
  async function retire(): Promise<void> {
    const { sealed } = await catalog.transaction((statements) => sealAnew(statements, secrets))
    keys = { ...keys, former: valid(keys, clock.now()) }
    writeSecretKeys(dataDir, keys)
    log.info("a former secret key has ended", { sealed })
  }

  /** In one transaction with the row that tells of it; `name` is that of the key which holds from then on. */
  async function sealAll(actor: Actor, sealing: KeptSecrets, name: string, onCommit: () => void): Promise<Resealed> {
    return catalog.transaction(async (statements) => {
      const done = await sealAnew(statements, sealing)
      await putSetting(statements, { key: MARK, value: name, updated_by: null, updated_at: clock.now() })
      await audit.write(statements, actor, { ...keyDeed("rotate", name), changes: { sealed: [null, done.sealed] } })
      return done
    }, onCommit)
  }

  return {
    secrets,
    cookieSecrets,
    async rotate(actor) {
      if (keys.isConfigured) {
        if (keys.former.length === 0) throw new ExitFault("usage", CONFIGURED)
        return sealAll(actor, secrets, keyName(keys.current), () => {})
      }
      const [previous, next] = [keys.current, random(BYTES)]
      writeSecretKeys(dataDir, { ...keys, next })
      const sealing = createSecrets({ secretKey: next, former: [previous, ...formerOf(keys)], random })
      const done = await sealAll(actor, sealing, keyName(next), () => {
        secrets.adopt(next)
        cookieSecrets.unshift(cookieSecret(next))
      })
      const until = clock.now() + options.settings.get("session_absolute_days") * DAY_MS
      keys = { current: next, former: [{ key: previous, until }, ...keys.former], isConfigured: false }
      writeSecretKeys(dataDir, keys)
      return { ...done, previous_until: new Date(until).toISOString() }
    },
    look: () => countUnreadable(catalog, secrets),
    async export(actor) {
      await audit.writeAlone(actor, keyDeed("export", keyName(keys.current)))
      return Buffer.from(keys.current).toString("base64")
    },
  }
}

/** The keys as the catalog says they hold: a rotation that was cut off has taken place, or has not. */
async function settled({ dataDir, keys, catalog, clock, log, settings }: KeyRotationOptions): Promise<SecretKeys> {
  const { next, ...present } = keys
  if (!next) return keys
  const mark = await settingByKey(catalog, MARK)
  if (mark !== keyName(next)) return present
  const until = clock.now() + settings.get("session_absolute_days") * DAY_MS
  const moved = { current: next, former: [{ key: keys.current, until }, ...keys.former], isConfigured: false }
  writeSecretKeys(dataDir, moved)
  log.warn("a change of the secret key that was cut off has been finished")
  return moved
}

const formerOf = ({ former }: SecretKeys): Uint8Array[] => former.map(({ key }) => key)
const valid = ({ former }: SecretKeys, now: number): FormerKey[] => former.filter(({ until }) => until > now)

/** Apart from the key that seals secrets: who knows one does not know the other. */
const cookieSecret = (key: Uint8Array): string =>
  Buffer.from(hkdfSync("sha256", key, new Uint8Array(), "footfall/cookies", 32)).toString("hex")

const keyDeed = (verb: "rotate" | "export", name: string): Deed => ({
  action: `admin.secret_key.${verb}`,
  target: { type: "instance", id: "secret_key", label: name },
})

const CONFIGURED =
  "The configuration holds the key: set FOOTFALL_SECRET_KEY to another one and FOOTFALL_SECRET_KEY_PREVIOUS to this one, start again, and run this once more"

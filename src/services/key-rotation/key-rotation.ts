import { hkdfSync } from "node:crypto"
import type { Actor, AuditEntry } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import type { Log } from "../../domain/log.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { putSetting, settingByKey } from "../../store/catalog/settings.ts"
import type { Audit } from "../audit/audit.ts"
import { ExitFault } from "../runtime/exit.ts"
import type { LiveNodes } from "../runtime/nodes.ts"
import { type FormerKey, type SecretKeys, writeSecretKeys } from "../runtime/secret-key.ts"
import { createSecrets, keyName, type Random, type RotatableSecrets } from "../secrets/secrets.ts"
import type { InstanceSettings } from "../settings/settings.ts"
import { countUnreadable, type Readability, type ResealResult, resealAll } from "./sealed-places.ts"

/** The result of a key rotation. */
export interface RotationResult extends ResealResult {
  /** Until when cookies signed with the previous key are valid. Missing if the configuration decides this. */
  previous_until?: string
}

/**
 * The secret keys of an instance and their rotation. One transaction re-encrypts all values with the new key and stores the key's name in
 * the catalog, while the key file holds both keys. After a crash, the next start uses the key that the catalog names.
 */
export interface KeyRotation {
  secrets: RotatableSecrets
  /** Keys for cookies: the first one signs, all of them verify. The array is changed in place. */
  cookieSecrets: [string, ...string[]]
  /** Rotates the key. Throws an `ExitFault` if the key is set in the configuration without a previous one. */
  rotate(actor: Actor): Promise<RotationResult>
  /** Counts the encrypted values, and those that no key can decrypt. */
  checkValues(): Promise<Readability>
  /** Returns the current key in base64 and writes an audit entry. */
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
  /** The nodes that share the catalog, which need the same key. Undefined for its only process. */
  nodes: Pick<LiveNodes, "live"> | undefined
  /** Tables of areas with sealed slugs of shares. */
  sealedSlugs: readonly string[]
}

const BYTES = 32
const DAY_MS = 86_400_000
/** Name of the setting that stores the current key's name. */
const KEY_NAME_SETTING = "secret_key"

/** Opens the keys. Completes an interrupted rotation and retires expired keys. Must be called before any value is encrypted. */
export async function openKeys(options: KeyRotationOptions): Promise<KeyRotation> {
  const { dataDir, catalog, clock, random, log, audit, nodes, sealedSlugs } = options
  let keys = await finishRotation(options)
  const hasOthers = () => nodes !== undefined && nodes.live().length > 1
  if (nodes) await agreeOnKey(keys, { catalog, now: clock.now(), hasOthers: hasOthers() })
  const secrets = createSecrets({ secretKey: keys.current, former: formerOf(keys), random })
  const cookieSecrets: [string, ...string[]] = [
    cookieSecret(keys.current),
    ...unexpired(keys, clock.now()).map(({ key }) => cookieSecret(key)),
  ]
  if (!keys.isConfigured && keys.former.some(({ until }) => until <= clock.now())) await retire()

  /** Re-encrypts the values of an expired key before the key is deleted. */
  async function retire(): Promise<void> {
    const { sealed } = await catalog.transaction((statements) => resealAll(statements, secrets, sealedSlugs))
    keys = { ...keys, former: unexpired(keys, clock.now()) }
    writeSecretKeys(dataDir, keys)
    log.info("a former secret key was retired", { sealed })
  }

  /** Re-encrypts all values and writes the audit entry in one transaction. `name` is the name of the new current key. */
  async function sealAll(actor: Actor, sealing: RotatableSecrets, name: string, onCommit: () => void): Promise<ResealResult> {
    return catalog.transaction(async (statements) => {
      const done = await resealAll(statements, sealing, sealedSlugs)
      await putSetting(statements, { key: KEY_NAME_SETTING, value: name, updated_by: null, updated_at: clock.now() })
      await audit.write(statements, actor, { ...keyEntry("rotate", name), changes: { sealed: [null, done.sealed] } })
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
      if (hasOthers()) throw new ExitFault("usage", SHARED)
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
    checkValues: () => countUnreadable(catalog, secrets, sealedSlugs),
    async export(actor) {
      await audit.writeAlone(actor, keyEntry("export", keyName(keys.current)))
      return Buffer.from(keys.current).toString("base64")
    },
  }
}

const SHARED =
  "Other nodes use this catalog, and would not get a new key. Set FOOTFALL_SECRET_KEY and FOOTFALL_SECRET_KEY_PREVIOUS on all of them, or stop them"

/** Refuses a key that other nodes do not have: what one of them seals, the others must be able to read. */
async function agreeOnKey(
  { current, former }: SecretKeys,
  { catalog, now, hasOthers }: { catalog: Catalog; now: number; hasOthers: boolean },
): Promise<void> {
  const value = keyName(current)
  await catalog.transaction(async (statements) => {
    const known = await settingByKey(statements, KEY_NAME_SETTING)
    if (known === value || former.some(({ key }) => keyName(key) === known)) return
    if (known !== undefined && hasOthers)
      throw new ExitFault(
        "configuration",
        "The other nodes have another secret key. Set FOOTFALL_SECRET_KEY to the same value on all nodes",
      )
    await putSetting(statements, { key: KEY_NAME_SETTING, value, updated_by: null, updated_at: now })
  })
}

/** Returns the keys in the order that the catalog implies: an interrupted rotation is either completed or discarded. */
async function finishRotation({ dataDir, keys, catalog, clock, log, settings }: KeyRotationOptions): Promise<SecretKeys> {
  const { next, ...current } = keys
  if (!next) return keys
  const name = await settingByKey(catalog, KEY_NAME_SETTING)
  if (name !== keyName(next)) return current
  const until = clock.now() + settings.get("session_absolute_days") * DAY_MS
  const moved = { current: next, former: [{ key: keys.current, until }, ...keys.former], isConfigured: false }
  writeSecretKeys(dataDir, moved)
  log.warn("completed an interrupted rotation of the secret key")
  return moved
}

const formerOf = ({ former }: SecretKeys): Uint8Array[] => former.map(({ key }) => key)
const unexpired = ({ former }: SecretKeys, now: number): FormerKey[] => former.filter(({ until }) => until > now)

/** Derives the cookie key. It differs from the encryption key, so that neither reveals the other. */
const cookieSecret = (key: Uint8Array): string =>
  Buffer.from(hkdfSync("sha256", key, new Uint8Array(), "footfall/cookies", 32)).toString("hex")

const keyEntry = (verb: "rotate" | "export", name: string): AuditEntry => ({
  action: `admin.secret_key.${verb}`,
  target: { type: "instance", id: "secret_key", label: name },
})

const CONFIGURED =
  "The secret key is set in the configuration. Set FOOTFALL_SECRET_KEY to a new key and FOOTFALL_SECRET_KEY_PREVIOUS to the current one, restart Footfall and run this command again"

import { type Actor, type AuditEntry, actingUserId } from "../../domain/audit.ts"
import { AppError, type Fault, MAX_COUNTED_FAULTS, refuseFaults } from "../../domain/error.ts"
import { INSTANCE_SETTINGS, isSettingKey, SETTING_KEYS, type SettingKey } from "../../domain/instance-settings.ts"
import { fault, inDocumentOrder, isObject, shapeFaults } from "../../domain/shape.ts"
import { isClean } from "../../domain/text.ts"
import { type Expected, refuseOtherVersion, refuseStaleBody } from "../../domain/version.ts"
import type { Audit } from "../audit/audit.ts"
import type { BesideSettings, InstanceSettings } from "./settings.ts"
import { type Described, sourceOf } from "./settings.ts"

/** A setting as shown in the console. */
export interface ShownSetting {
  key: string
  group: string
  value: unknown
  default: unknown
  source: "env" | "file" | "db" | "default"
  /** False if the setting is set in the environment or the file, or can only be changed by a restart. */
  editable: boolean
  /** Present for a secret, whose value is never shown. */
  secret?: { set: boolean }
  description: string
  /** JSON Schema of the value. Present for settings that can be changed in the console. */
  schema?: unknown
}

/** Settings of the instance with their sources. */
export interface ConsoleSettings {
  list(): ShownSettings
  /**
   * Changes settings in one transaction. The body is `{changes: {key: value}, version?}`; null restores the default. Throws
   * `validation_failed`, `setting_not_found`, `set_elsewhere` with the key and its source, `version_conflict`, `precondition_failed`.
   */
  change(actor: Actor, body: unknown, terms?: { expected?: Expected; beside?: BesideSettings }): Promise<ShownSettings>
}

/** All settings. They have a common version, because they are changed together. */
export type ShownSettings = { data: ShownSetting[]; version: number }

interface SettingsOptions {
  settings: InstanceSettings
  audit: Pick<Audit, "write">
  described: readonly (Described & { about: string; secret: boolean; default: unknown })[]
}

export function createConsoleSettings({ settings, audit, described }: SettingsOptions): ConsoleSettings {
  const ofOperator = described.filter(({ key }) => !isSettingKey(key))

  const shown = (): ShownSetting[] => [
    ...SETTING_KEYS.map((key) => shownSetting(key, settings)),
    ...ofOperator.map(
      ({ key, value, source, about, secret, default: fallback }): ShownSetting => ({
        key,
        group: "operator",
        value: secret ? null : (value ?? null),
        default: fallback ?? null,
        source: sourceOf(source),
        editable: false,
        ...(secret && { secret: { set: value !== null && value !== undefined } }),
        description: about,
      }),
    ),
  ]

  const list = (): ShownSettings => ({ data: shown(), version: settings.version() })

  return {
    list,
    async change(actor, body, { expected, beside } = {}) {
      const { changes, version } = parseChanges(body, ofOperator)
      const elsewhere = [...changes.keys()].find((key) => settings.sourceOf(key) === "env" || settings.sourceOf(key) === "file")
      if (elsewhere !== undefined) throw setElsewhere(elsewhere, settings.sourceOf(elsewhere))
      const by = actingUserId(actor)
      await settings.change(Object.fromEntries(changes), by, {
        ...beside,
        async alongside(statements) {
          // Checked in the transaction, which no other change can interrupt.
          const present = { version: settings.version() }
          refuseStaleBody(present, version, list)
          refuseOtherVersion(present, expected)
          if (changes.size > 0) await audit.write(statements, actor, auditEntry(changes, settings))
          await beside?.alongside?.(statements)
        },
      })
      return list()
    },
  }
}

/** Returns the audit entry of a change. Must be called before the new values take effect. */
function auditEntry(changes: ReadonlyMap<SettingKey, unknown>, settings: InstanceSettings): AuditEntry {
  const keys = [...changes.keys()]
  return {
    action: "admin.setting.update",
    target: { type: "instance", id: "settings", label: keys.join(", ") },
    changes: Object.fromEntries(keys.map((key) => [key, [settings.get(key), changes.get(key) ?? INSTANCE_SETTINGS[key].default]])),
  }
}

function shownSetting(key: SettingKey, settings: InstanceSettings): ShownSetting {
  const { group, about, schema, default: fallback } = INSTANCE_SETTINGS[key]
  const source = settings.sourceOf(key)
  const editable = source === "db" || source === "default"
  return { key, group, value: settings.get(key), default: fallback, source, editable, description: about, schema }
}

function parseChanges(body: unknown, ofOperator: readonly Described[]): { changes: Map<SettingKey, unknown>; version: number | undefined } {
  const { changes, version } = isObject(body) ? body : {}
  const extra = isObject(body) ? Object.keys(body).filter((name) => name !== "changes" && name !== "version") : []
  const isVersion = version === undefined || (Number.isSafeInteger(version) && Number(version) >= 1)
  const faults: Fault[] = isVersion ? [] : [fault("/version", "invalid_type", "must be a whole number")]
  const unknown = extra.slice(0, MAX_COUNTED_FAULTS + 1).map((name) => fault(`/${name}`, "unknown_field", "does not exist"))
  faults.push(...unknown)
  if (!isObject(body)) faults.push(fault("", "invalid_type", "must be an object"))
  else if (changes === undefined) faults.push(fault("/changes", "required", "is required"))
  else if (!isObject(changes)) faults.push(fault("/changes", "invalid_type", "must be an object"))
  const wanted = new Map<SettingKey, unknown>()
  for (const [key, value] of Object.entries(isObject(changes) ? changes : {})) {
    const configured = ofOperator.find((each) => each.key === key)
    if (configured) throw setElsewhere(key, sourceOf(configured.source))
    if (!isSettingKey(key)) throw new AppError("setting_not_found", `There is no setting named ${key.slice(0, 60)}.`)
    if (value !== null) faults.push(...faultsOf(key, value))
    wanted.set(key, value)
  }
  refuseFaults(inDocumentOrder(faults, body))
  return { changes: wanted, version: version === undefined ? undefined : Number(version) }
}

function faultsOf(key: SettingKey, value: unknown): Fault[] {
  const pointer = `/changes/${key}`
  const texts = typeof value === "string" ? [value] : Array.isArray(value) ? value.filter((item) => typeof item === "string") : []
  if (!texts.every(isClean)) return [fault(pointer, "invalid_characters", "contains characters that are not allowed")]
  return shapeFaults(INSTANCE_SETTINGS[key].schema, value, pointer).take(1).toArray()
}

const setElsewhere = (key: string, source: string) =>
  new AppError("set_elsewhere", `${key} can only be changed in the configuration of the instance, and takes effect after a restart.`, {
    key: key.slice(0, 60),
    source,
  })

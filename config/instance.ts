import { INSTANCE_SETTINGS, isSettingValue, type SettingKey, type SettingValue } from "../src/domain/instance-settings.ts"
import type { Setting } from "./kinds.ts"

/**
 * Defines a setting that instance admins can change in the console while the instance runs. A value in the environment or the
 * file takes precedence, and the setting can then only be changed there.
 */
export function instanceSetting<Key extends SettingKey>(key: Key): Setting<SettingValue<Key> | undefined> {
  const { schema, about } = INSTANCE_SETTINGS[key]
  const wanted = schema as unknown as Form // TypeBox schemas are JSON Schema
  return {
    default: undefined,
    form: formOf(wanted),
    about,
    secret: false,
    read(given) {
      const value = valueIn(wanted, given)
      return isSettingValue(key, value) ? (value as SettingValue<Key>) : undefined // checked by isSettingValue
    },
  }
}

interface Form {
  type?: string
  minimum?: number
  maximum?: number
  anyOf?: readonly Form[]
  const?: string
}

/** Returns the allowed form in words. */
function formOf({ type, minimum, maximum, anyOf }: Form): string {
  if (type === "integer") return `a whole number from ${minimum} to ${maximum}`
  if (type === "boolean") return "a boolean (true, false, 1, 0)"
  if (type === "array") return "a list such as a,b"
  const choices = (anyOf ?? []).flatMap((choice) => choice.const ?? [])
  return choices.length > 0 ? `one of ${choices.join(", ")}` : `${formOf(anyOf![0]!)}, or none` // the remaining unions are nullable
}

const TOGGLES = new Map([
  ["1", true],
  ["true", true],
  ["0", false],
  ["false", false],
])

/** Converts the text of a variable or flag to a value; a file already contains values. Invalid texts are returned unchanged and refused later. */
function valueIn({ type, anyOf }: Form, given: unknown): unknown {
  if (anyOf?.some((choice) => choice.type === "null")) return given === "none" ? null : valueIn(anyOf[0]!, given)
  if (typeof given !== "string") return given
  if (type === "integer") return /^\d{1,9}$/.test(given) ? Number(given) : given
  if (type === "boolean") return TOGGLES.get(given)
  if (type === "array") return given.split(",").map((part) => part.trim())
  return given.trim()
}

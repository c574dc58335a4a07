import { INSTANCE_SETTINGS, isSettingValue, type SettingKey, type SettingValue } from "../src/domain/instance-settings.ts"
import type { Setting } from "./kinds.ts"

/**
 * A setting that instance admins can change while the instance runs. Once environment or file hold it, it is changed there
 * alone; without, the console decides.
 */
export function ofInstance<Key extends SettingKey>(key: Key): Setting<SettingValue<Key> | undefined> {
  const { schema, about } = INSTANCE_SETTINGS[key]
  const wanted = schema as unknown as Form // as JSON Schema says it
  return {
    default: undefined,
    form: formOf(wanted),
    about,
    secret: false,
    read(given) {
      const value = valueIn(wanted, given)
      return isSettingValue(key, value) ? (value as SettingValue<Key>) : undefined // just looked at
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

/** The allowed form in words. */
function formOf({ type, minimum, maximum, anyOf }: Form): string {
  if (type === "integer") return `a whole number from ${minimum} to ${maximum}`
  if (type === "boolean") return "1, 0, true or false"
  if (type === "array") return "a list of texts such as a,b"
  const choices = (anyOf ?? []).flatMap((choice) => choice.const ?? [])
  return choices.length > 0 ? `one of ${choices.join(", ")}` : `${formOf(anyOf![0]!)}, or none` // else it may be null
}

const TOGGLES = new Map([
  ["1", true],
  ["true", true],
  ["0", false],
  ["false", false],
])

/** Variables and flags hold text; a file holds values. What does not fit stays as it is, and is refused. */
function valueIn({ type, anyOf }: Form, given: unknown): unknown {
  if (anyOf?.some((choice) => choice.type === "null")) return given === "none" ? null : valueIn(anyOf[0]!, given)
  if (typeof given !== "string") return given
  if (type === "integer") return /^\d{1,9}$/.test(given) ? Number(given) : given
  if (type === "boolean") return TOGGLES.get(given)
  if (type === "array") return given.split(",").map((part) => part.trim())
  return given.trim()
}

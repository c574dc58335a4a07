import { type TObject, type TSchema, TypeGuard } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import type { Setting } from "./kinds.ts"

/** A plugin's section of the configuration: a table of its own in the file. */
export interface PluginSection {
  id: string
  settings?: TObject
}

/** A setting of a plugin: its name in the section, and the key it has everywhere else. */
export interface PluginSetting {
  plugin: string
  name: string
  key: string
  setting: Setting<unknown>
}

/** Throws for a schema that is no form of a setting: a slip of the plugin's author. */
export function pluginSettings(sections: readonly PluginSection[]): PluginSetting[] {
  return sections.flatMap(({ id, settings }) =>
    Object.entries(settings?.properties ?? {}).map(([name, schema]) => ({
      plugin: id,
      name,
      key: String(schema["x-key"] ?? `${id}_${name}`),
      setting: settingOf(`${id}.${name}`, schema),
    })),
  )
}

function settingOf(where: string, schema: TSchema): Setting<unknown> {
  const form = formOf(schema)
  if (form === undefined) throw new Error(`The setting ${where} is of no form that can be written in a file and a variable`)
  if (schema.default === undefined && !TypeGuard.IsOptional(schema)) throw new Error(`The setting ${where} has no default`)
  if (schema.default !== undefined && !Value.Check(schema, schema.default)) throw new Error(`The default of ${where} is not allowed`)
  if (!schema.description) throw new Error(`The setting ${where} has no description`)
  return {
    default: schema.default,
    form: String(schema["x-form"] ?? form),
    about: schema.description,
    secret: schema["x-secret"] === true,
    read(given) {
      const value = fromText(schema, given)
      return Value.Check(schema, value) ? value : undefined
    },
  }
}

/** The allowed form in words; undefined for what cannot be a setting. */
function formOf(schema: TSchema): string | undefined {
  if (TypeGuard.IsBoolean(schema)) return "1, 0, true or false"
  if (TypeGuard.IsInteger(schema)) return `a whole number${bounds(schema)}`
  if (TypeGuard.IsNumber(schema)) return `a number${bounds(schema)}`
  if (TypeGuard.IsString(schema)) return "text"
  const choices = choicesOf(schema)
  if (choices) return `one of ${choices.join(", ")}`
  return TypeGuard.IsArray(schema) && TypeGuard.IsString(schema.items) ? "a list of texts such as a,b" : undefined
}

const bounds = ({ minimum, maximum }: { minimum?: number; maximum?: number }): string =>
  minimum === undefined || maximum === undefined ? "" : ` from ${minimum} to ${maximum}`

function choicesOf(schema: TSchema): string[] | undefined {
  if (!TypeGuard.IsUnion(schema)) return undefined
  const texts = schema.anyOf.flatMap((choice) => (TypeGuard.IsLiteralString(choice) ? [choice.const] : []))
  return texts.length === schema.anyOf.length ? texts : undefined
}

const TOGGLES = new Map([
  ["1", true],
  ["true", true],
  ["0", false],
  ["false", false],
])

/** A variable and a flag hold text; a file holds values. What does not fit stays as it is, and is refused. */
function fromText(schema: TSchema, given: unknown): unknown {
  if (TypeGuard.IsBoolean(schema)) return TOGGLES.get(String(given))
  if (typeof given !== "string") return given
  if (TypeGuard.IsInteger(schema) || TypeGuard.IsNumber(schema)) return /^-?\d{1,15}(\.\d{1,9})?$/.test(given) ? Number(given) : given
  // A control character in a setting is a slip of copying.
  if (/\p{Cc}/u.test(given)) return undefined
  if (TypeGuard.IsArray(schema)) return given.split(",").map((part) => part.trim())
  return given.trim()
}

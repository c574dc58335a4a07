import { type TObject, type TSchema, TypeGuard } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import type { Setting } from "./kinds.ts"

/** The section of a plugin in the configuration: a table in the file. */
export interface PluginSection {
  id: string
  settings?: TObject
}

/** A setting of a plugin, with its name in the section and its key everywhere else. */
export interface PluginSetting {
  plugin: string
  name: string
  key: string
  setting: Setting<unknown>
}

/** Returns the settings of plugins. Throws for a schema that cannot be a setting, which is a mistake of the plugin's author. */
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
  if (form === undefined) throw new Error(`The setting ${where} has a type that cannot be written in a file and a variable`)
  if (schema.default === undefined && !TypeGuard.IsOptional(schema)) throw new Error(`The setting ${where} has no default`)
  if (schema.default !== undefined && !Value.Check(schema, schema.default))
    throw new Error(`The default of the setting ${where} does not match its schema`)
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

/** Returns the allowed form in words, or undefined for a schema that cannot be a setting. */
function formOf(schema: TSchema): string | undefined {
  if (TypeGuard.IsBoolean(schema)) return "a boolean (true, false, 1, 0)"
  if (TypeGuard.IsInteger(schema)) return `a whole number${bounds(schema)}`
  if (TypeGuard.IsNumber(schema)) return `a number${bounds(schema)}`
  if (TypeGuard.IsString(schema)) return "text"
  const choices = choicesOf(schema)
  if (choices) return `one of ${choices.join(", ")}`
  return TypeGuard.IsArray(schema) && TypeGuard.IsString(schema.items) ? "a list such as a,b" : undefined
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

/** Converts the text of a variable or flag to a value; a file already contains values. Invalid texts are returned unchanged and refused later. */
function fromText(schema: TSchema, given: unknown): unknown {
  if (TypeGuard.IsBoolean(schema)) return TOGGLES.get(String(given))
  if (typeof given !== "string") return given
  if (TypeGuard.IsInteger(schema) || TypeGuard.IsNumber(schema)) return /^-?\d{1,15}(\.\d{1,9})?$/.test(given) ? Number(given) : given
  // A control character in a setting is a copying mistake.
  if (/\p{Cc}/u.test(given)) return undefined
  if (TypeGuard.IsArray(schema)) return given.split(",").map((part) => part.trim())
  return given.trim()
}

import { type SchemaOptions, type StringOptions, type TObject, type TProperties, type TSchema, Type as t } from "@sinclair/typebox"

/** The parts that the schemas of responses share. */
export const Id = t.Integer({ minimum: 1 })
/** An instant as RFC 3339 in UTC, in whole seconds. */
export const Instant = t.String({ format: "date-time" })
export const orNull = <Schema extends TSchema>(schema: Schema, options?: SchemaOptions) => t.Union([schema, t.Null()], options)

/** A text with a closed set of values in code. The documents call it any text, so that a later version can add a value. */
export const textOf = <Value extends string>(options?: StringOptions) => t.Unsafe<Value>(t.String(options))

/** A part that the documents do not describe further, with its type in code. */
export const anyOf = <Value>(options?: SchemaOptions) => t.Unsafe<Value>(t.Any(options))

/** Returns the schema of a record in the private API: with its version, which a change can name to detect conflicts. */
export const versioned = <Fields extends TProperties>({ properties, title }: TObject<Fields>) =>
  t.Object(
    { ...properties, version: t.Integer({ description: "Version of the record, which increases with each change." }) },
    title === undefined ? {} : { title },
  )

/** A page of a list in the private API. */
export interface PrivatePage<Row> {
  data: Row[]
  has_more: boolean
  /** Null on the last page. */
  next_cursor: string | null
  /** Number of all rows. Present only if requested. */
  total?: number
}

/** Returns the schema of a `PrivatePage`. */
export const Listed = <Row extends TSchema>(row: Row) =>
  t.Object({
    data: t.Array(row),
    has_more: t.Boolean(),
    next_cursor: orNull(t.String()),
    total: t.Optional(t.Integer()),
  })

/** A record by its id and name, such as the organization of a site. */
export const Named = t.Object({ id: Id, name: t.String() })
export type Named = { id: number; name: string }

/** Returns the schema of a DNS record that proves a host or a domain. */
export const txtRecord = (description: string) => t.Object({ type: t.Literal("TXT"), name: t.String(), value: t.String() }, { description })

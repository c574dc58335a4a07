import { type SchemaOptions, type StringOptions, type TObject, type TProperties, type TSchema, Type as t } from "@sinclair/typebox"

/** The parts that the schemas of responses share. */
export const Id = t.Integer({ minimum: 1 })
/** An instant as RFC 3339 in UTC, in whole seconds. */
export const Instant = t.String({ format: "date-time" })
/** Described fields of the most common types. */
export const field = {
  id: (description: string) => t.Integer({ minimum: 1, description }),
  instant: (description: string) => t.String({ format: "date-time", description }),
  text: (description: string) => t.String({ description }),
  texts: (description: string) => t.Array(t.String(), { description }),
  integer: (description: string) => t.Integer({ description }),
  flag: (description: string) => t.Boolean({ description }),
}
/** Times of a record. */
export const CREATED_AT = field.instant("Time of creation.")
export const UPDATED_AT = field.instant("Time of the latest change.")
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
    data: t.Array(row, { description: "Rows on this page of the list." }),
    has_more: t.Boolean({ description: "Whether more rows follow." }),
    next_cursor: orNull(t.String(), { description: "Value for the parameter `cursor` of the next page. null on the last page." }),
    total: t.Optional(t.Integer({ description: "Number of all rows. Present only with `count`." })),
  })

/** Returns the schema of a list that is never divided into pages. */
export const wholeList = <Row extends TSchema>(row: Row) =>
  t.Object({
    data: t.Array(row, { description: "All rows." }),
    has_more: t.Boolean({ description: "Always false." }),
    next_cursor: t.Null({ description: "Always null." }),
  })

/** A record by its id and name, such as the organization of a site. */
export const Named = t.Object({ id: field.id("Id of the record."), name: field.text("Name of the record.") })
export const named = (description: string) => t.Object(Named.properties, { description })
export type Named = { id: number; name: string }

/** Returns the schema of a DNS record that proves a host or a domain. */
export const txtRecord = (description: string) =>
  t.Object(
    {
      type: t.Literal("TXT", { description: "Type of the record." }),
      name: field.text("Name of the record."),
      value: field.text("Value of the record."),
    },
    { description },
  )

import { type Static, type TObject, Type as t } from "@sinclair/typebox"
import { IMPORTED_KINDS } from "#plugin/worker"
import { OVERLAPS } from "./days.ts"
import type { Source } from "./source.ts"

/** Options of all sources. */
export const CommonOptions = t.Object({
  overlap: t.Optional(
    t.Union(
      OVERLAPS.map((overlap) => t.Literal(overlap)),
      { description: "What counts on days that native data or other imports have as well. Default: native_wins." },
    ),
  ),
  from: t.Optional(t.String({ minLength: 10, maxLength: 10, description: "First day to import." })),
  to: t.Optional(t.String({ minLength: 10, maxLength: 10, description: "Last day to import." })),
  source_timezone: t.Optional(
    t.String({ minLength: 1, maxLength: 64, description: "IANA time zone of times without a zone. Default: that of the format." }),
  ),
  encoding: t.Optional(
    t.Union([t.Literal("utf-8"), t.Literal("utf-16"), t.Literal("latin1")], { description: "Encoding of the files. Default: detected." }),
  ),
  delimiter: t.Optional(
    t.Union([t.Literal(","), t.Literal(";"), t.Literal("tab"), t.Literal("|")], {
      description: "Delimiter of columns. Default: detected.",
    }),
  ),
  hostnames: t.Optional(
    t.Array(t.String({ minLength: 1, maxLength: 253 }), { maxItems: 100, description: "Hosts whose events are imported. Default: all." }),
  ),
  tables: t.Optional(
    t.Array(t.Union(IMPORTED_KINDS.map((kind) => t.Literal(kind))), {
      maxItems: 13,
      description: "Tables of totals to import. Default: all.",
    }),
  ),
  link_identified_users: t.Optional(
    t.Boolean({
      description: "Whether users of the source are the same visitors as those that the site identifies. Only in the mode identified.",
    }),
  ),
  create_goals: t.Optional(t.Boolean({ description: "Whether to create an event goal for each imported event name, at most 50." })),
  accept_rejects: t.Optional(t.Boolean({ description: "Whether to import the rest when more than half of the lines are rejected." })),
})
export type CommonOptions = Static<typeof CommonOptions>

/** Returns the schema of all options of a source. Unknown options are refused. */
export const optionsOf = ({ options }: Pick<Source, "options">): TObject =>
  t.Object({ ...CommonOptions.properties, ...options.properties }, { additionalProperties: false })

/** Returns the options that only the source knows. */
export const ownOptions = (options: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(options).filter(([name]) => !Object.hasOwn(CommonOptions.properties, name)))

/** Schemas that several bodies share. The browser does not load them with the limits of cohorts. */
import { Type as t } from "@sinclair/typebox"
import { RESTRICTIONS } from "./cohort.ts"

/** Returns the schema of a closed list, with the literal type that TypeBox cannot infer from an array. */
export const oneOf = <const Name extends string>(names: readonly Name[], description: string) =>
  t.Unsafe<Name>(
    t.Union(
      names.map((name) => t.Literal(name)),
      { description },
    ),
  )

export const RestrictInput = t.Union([t.Literal(RESTRICTIONS[0]), t.Null()], {
  description: "`identified` counts only people with a user ID or device ID. Default: null, everyone whom the identity mode recognizes.",
})

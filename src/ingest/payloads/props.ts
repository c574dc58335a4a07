import { COLLECT } from "../../domain/limits.ts"
import { composed } from "../../domain/text.ts"
import { byteLength, isStorable, visible, withoutMissing } from "../text.ts"
import { type Field, isObject, parseJson, refuse, refuseType } from "./fields.ts"

export interface Props {
  pairs: (readonly [key: string, value: string])[]
  /** There were more than an event can have. */
  discarded: boolean
}

const NONE: Props = { pairs: [], discarded: false }

/** Properties of a browser's event: what has no text is left out, so is everything beyond the limit. */
export function readProps(target: Field): Props {
  const { value } = target
  if (value === undefined) return NONE
  const sent = typeof value === "string" ? parseJson(value) : value
  if (!isObject(sent)) return { pairs: [], discarded: true }
  const pairs = Object.keys(sent).flatMap((key) => pairOf(target, key, sent[key]))
  return pairs.length > COLLECT.props ? { pairs: pairs.slice(0, COLLECT.props), discarded: true } : { pairs, discarded: false }
}

/** Properties of a server's event: a program can be told what is wrong with them. */
export function readStrictProps(target: Field): Props {
  const { value } = target
  if (value === undefined) return NONE
  if (!isObject(value)) return refuseType(target, "an object") ?? NONE
  const keys = Object.keys(value)
  if (keys.length > COLLECT.props) refuse(target, "too_many_properties", `has at most ${COLLECT.props} properties`)
  if (keys.some((key) => !isScalar(value[key]))) refuseType(target, "an object of texts, numbers and booleans")
  return { pairs: keys.slice(0, COLLECT.props).flatMap((key) => pairOf(target, key, value[key])), discarded: false }
}

const isScalar = (value: unknown) => typeof value === "string" || typeof value === "number" || typeof value === "boolean"

/** No pair for objects, lists, null and empty texts. */
function pairOf(target: Field, key: string, value: unknown): Props["pairs"] {
  if (!isScalar(value)) return []
  const text = withoutMissing(String(value))
  const fault = pairFault(key, text)
  if (fault === "empty") return []
  if (fault) refuse(target, ...REFUSALS[fault])
  return [[key, text]]
}

type PairFault = "empty" | "long_key" | "long_value" | "invalid_characters"

const REFUSALS: Record<Exclude<PairFault, "empty">, readonly [code: string, detail: string]> = {
  long_key: ["too_long", `has keys of at most ${COLLECT.propKeyBytes} bytes`],
  long_value: ["too_long", `has values of at most ${COLLECT.propValueBytes} bytes`],
  invalid_characters: ["invalid_characters", "holds characters that cannot be stored"],
}

/** Why a pair is no property, whoever names it; undefined when it is one. */
export function pairFault(key: string, text: string): PairFault | undefined {
  if (key === "" || text === "") return "empty"
  if (byteLength(key) > COLLECT.propKeyBytes) return "long_key"
  if (byteLength(text) > COLLECT.propValueBytes) return "long_value"
  return visible(key) === composed(key) && isStorable(text) ? undefined : "invalid_characters"
}

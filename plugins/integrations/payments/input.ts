import { type Static, Type as t } from "@sinclair/typebox"
import { fault, inspect, isObject, refuseFaults } from "#plugin"
import { HOOK_KINDS, type HookKind, LIMITS } from "./hook.ts"
import { isUsableSecret } from "./signatures.ts"

const closed = { additionalProperties: false } as const
const signing_secret = t.String({
  minLength: 6,
  maxLength: LIMITS.secretChars,
  description:
    "Secret with which the provider signs its events. For `payments-generic`: base64 of 24 to 64 bytes, with or without `whsec_`.",
})

export const HookInput = t.Object(
  {
    kind: t.Union(
      HOOK_KINDS.map((kind) => t.Literal(kind)),
      { description: "Payment provider, or `payments-generic` for senders that follow the Standard Webhooks specification." },
    ),
    signing_secret: t.Optional({
      ...signing_secret,
      description: `${signing_secret.description} Most providers show it only after the URL was entered there. Until it is sent with \`rotate-secret\`, every event is refused.`,
    }),
  },
  { ...closed, title: "PaymentHookInput" },
)
type HookInput = Static<typeof HookInput>

export const HookPatch = t.Partial(
  t.Object(
    {
      enabled: t.Boolean({ description: "Whether events are received. A disabled hook answers 404." }),
      version: t.Integer({ minimum: 1, description: "Version that the change is based on." }),
    },
    closed,
  ),
  { title: "PaymentHookPatch" },
)
export type HookPatch = Static<typeof HookPatch>

export const HookRotation = t.Object({ signing_secret }, { ...closed, title: "PaymentHookRotation" })

/** Set by the server, and ignored so that the body of a GET can be sent back. */
const READ_ONLY = ["id", "kind", "secret", "previous_secret_until", "last_event", "created_by", "created_at", "updated_at"]

/** Parses the body of a new hook. Throws `validation_failed`. */
export function readNewHook(body: unknown): HookInput {
  const { fields, faults } = inspect(HookInput, body)
  refuseFaults(faults)
  const input = fields as HookInput // it is valid
  if (input.signing_secret !== undefined) refuseUnusable(input.kind, input.signing_secret)
  return input
}

/** Parses a patch of a hook. Throws `validation_failed`. */
export function readHookPatch(body: unknown): HookPatch {
  const sent = isObject(body) ? Object.fromEntries(Object.entries(body).filter(([name]) => !READ_ONLY.includes(name))) : body
  const { fields, faults } = inspect(HookPatch, sent)
  refuseFaults(faults)
  return fields
}

/** Parses the new signing secret of a hook. Throws `validation_failed`. */
export function readRotation(kind: HookKind, body: unknown): string {
  const { fields, faults } = inspect(HookRotation, body)
  refuseFaults(faults)
  const secret = fields.signing_secret! // it is valid
  refuseUnusable(kind, secret)
  return secret
}

function refuseUnusable(kind: HookKind, secret: string): void {
  if (isUsableSecret(kind, secret)) return
  refuseFaults([fault("/signing_secret", "invalid_characters", "must be base64 of 24 to 64 bytes, with or without whsec_ before it")])
}

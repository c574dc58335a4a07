import { type Static, Type as t } from "@sinclair/typebox"
import { caseKey, type Fault, fault, inspect, isClean, isEmail, isObject, refuseFaults } from "#plugin"
import { integrationError } from "../errors.ts"
import { LIMITS, REPORT_CHANNELS, REPORT_KINDS, type Report, SECTIONS } from "./report.ts"

const choice = <Value extends string>(values: readonly Value[], description: string) =>
  t.Union(
    values.map((value) => t.Literal(value)),
    { description },
  ) as unknown as ReturnType<typeof t.Unsafe<Value>>

const FIELDS = {
  kind: choice(REPORT_KINDS, "How often the report is sent: `daily`, `weekly` (on Mondays) or `monthly` (on the first)."),
  channel: t.Optional(
    choice(
      REPORT_CHANNELS,
      "`email` (default) for recipients, or `chat` for the chat connections of the site that receive the event `report.ready`.",
    ),
  ),
  recipients: t.Optional(
    t.Array(t.String({ minLength: 3, maxLength: 254 }), {
      description: `Email addresses, at most ${LIMITS.recipients}, with or without an account. Required for the channel \`email\`.`,
    }),
  ),
  hour: t.Optional(t.Integer({ minimum: 0, maximum: 23, description: "Hour in the time zone of the site. Default: 7." })),
  sections: t.Optional(
    t.Array(choice(SECTIONS, "Section."), {
      minItems: 1,
      maxItems: SECTIONS.length,
      uniqueItems: true,
      description: "Sections of the report. Default: all. `revenue` is left out unless every viewer of the site may see it.",
    }),
  ),
  enabled: t.Optional(t.Boolean({ description: "Whether the report is sent. Default: true." })),
}
const closed = { additionalProperties: false } as const

export const ReportInput = t.Object(FIELDS, { ...closed, title: "ReportInput" })
export const ReportPatch = t.Object(
  {
    ...FIELDS,
    kind: t.Optional(FIELDS.kind),
    version: t.Optional(t.Integer({ minimum: 1, description: "Version that the change is based on." })),
  },
  { ...closed, title: "ReportPatch" },
)

type Fields = Pick<Report, "kind" | "channel" | "recipients" | "hour" | "sections" | "enabled">

/** Set by the server, and ignored so that the body of a GET can be sent back. */
const READ_ONLY = ["id", "recipient_states", "can_manage", "last_sent_at", "next_at", "created_by", "created_at", "updated_at"]

/** Parses the body of a new report. Throws `validation_failed` with all faults, or `too_many_recipients`. */
export function readNewReport(body: unknown): Fields {
  const { fields, faults } = inspect(ReportInput, body)
  const read = completed(fields as Partial<Fields>) // what is of another type has a fault
  refuseFaults([...faults, ...(faults.length > 0 ? [] : faultsOf(read))])
  return withinLimits(read)
}

/** Parses a patch of a report. Fields that it does not name stay. */
export function readReportPatch(body: unknown, present: Report): { fields: Fields; version: number | undefined } {
  const given = isObject(body) ? Object.fromEntries(Object.entries(body).filter(([name]) => !READ_ONLY.includes(name))) : body
  const { fields, faults } = inspect(ReportPatch, given)
  const { version, ...changed } = fields as Partial<Fields> & Pick<Static<typeof ReportPatch>, "version"> // what is of another type has a fault
  const read = completed({ ...present, ...changed })
  refuseFaults([...faults, ...(faults.length > 0 ? [] : faultsOf(read))])
  return { fields: withinLimits(read), version }
}

const completed = ({
  kind = "weekly",
  channel = "email",
  recipients = [],
  hour = 7,
  sections = SECTIONS,
  enabled = true,
}: Partial<Fields>): Fields => ({
  ...{ kind, channel, hour, enabled, recipients },
  sections: SECTIONS.filter((section) => sections.includes(section)),
})

function faultsOf({ channel, recipients }: Fields): Fault[] {
  if (channel === "chat")
    return recipients.length > 0 ? [fault("/recipients", "not_allowed", "must be empty for a report that is sent to chats")] : []
  if (recipients.length === 0) return [fault("/recipients", "required", "must have at least one address")]
  const keys = recipients.map(caseKey)
  return recipients.flatMap((address, index) => {
    const pointer = `/recipients/${index}`
    if (!isEmail(address) || !isClean(address)) return [fault(pointer, "invalid_email", "must be an email address")]
    return keys.indexOf(keys[index]!) < index ? [fault(pointer, "duplicate", "is named more than once")] : []
  })
}

function withinLimits(fields: Fields): Fields {
  if (fields.recipients.length <= LIMITS.recipients) return fields
  throw integrationError("too_many_recipients", `A report can have at most ${LIMITS.recipients} recipients.`, { limit: LIMITS.recipients })
}

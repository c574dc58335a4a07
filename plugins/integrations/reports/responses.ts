/** Responses of the routes for reports. The dashboard takes its types from here as well. */
import { type Static, Type as t } from "@sinclair/typebox"
import { CREATED_AT, field, instantOrNull, instantText, orNull, textOf, UPDATED_AT } from "#plugin"
import type { RecipientState, Report, ReportChannel, ReportKind, Section } from "./report.ts"
import type { FigureTone } from "./wording.ts"

export const ReportResponse = t.Object(
  {
    id: field.id("Id of the report."),
    kind: textOf<ReportKind>({ description: "How often it is sent: `daily`, `weekly` or `monthly`." }),
    channel: textOf<ReportChannel>({ description: "`email`, or `chat` for the chat connections of the site." }),
    recipients: field.texts("Email addresses of the recipients."),
    recipient_states: t.Array(
      t.Object({
        email: field.text("Email address."),
        state: textOf<RecipientState>({
          description: "`active`, `unsubscribed` by the person, or `failed` after three permanent failures in a row.",
        }),
      }),
      { description: "State of each recipient." },
    ),
    hour: field.integer("Hour in the time zone of the site."),
    sections: t.Array(textOf<Section>(), { description: "Sections of the report." }),
    enabled: field.flag("Whether the report is sent."),
    can_manage: field.flag("Whether you can change it."),
    last_sent_at: orNull(field.instant("Time of the last sending."), { description: "Time of the last sending. null before the first." }),
    next_at: orNull(field.instant("Time of the next sending."), { description: "Time of the next sending. null for a disabled report." }),
    created_by: orNull(t.Integer(), { description: "Id of the user who created the report." }),
    version: field.id("Version of the report, which increases with each change."),
    created_at: CREATED_AT,
    updated_at: UPDATED_AT,
  },
  { title: "Report" },
)
export type ReportResponse = Static<typeof ReportResponse>

const Period = t.Object(
  { from: field.text("First day."), to: field.text("Last day.") },
  { description: "Days that the report covers, in the time zone of the site." },
)

export const SentResponse = t.Object(
  { queued: field.integer("Number of messages that were queued."), period: Period },
  { title: "ReportSent" },
)

export type SentResponse = Static<typeof SentResponse>

export const PreviewResponse = t.Object(
  {
    subject: field.text("Subject of the email."),
    text: field.text("Text part of the email."),
    html: field.text("HTML part of the email: a whole document. Show it in a sandboxed frame."),
    report: t.Object(
      {
        title: field.text("Title of the report."),
        days: field.text("Days of the report in words."),
        figures: t.Array(
          t.Object({
            label: field.text("Name of the figure."),
            value: field.text("Value in words."),
            change: orNull(field.text("Change to the period before."), {
              description: "Change to the period before. null if that had none.",
            }),
            tone: textOf<FigureTone>({ description: "Whether the change is for the better: `good`, `bad` or `none`." }),
          }),
          { description: "Key figures." },
        ),
        lists: t.Array(
          t.Object({
            title: field.text("Name of the section."),
            unit: field.text("What its values count."),
            rows: t.Array(t.Object({ name: field.text("Name of the row."), value: field.text("Value in words.") }), {
              description: "Top rows of the section.",
            }),
          }),
          { description: "Sections with a list." },
        ),
      },
      { description: "Content of the email in words." },
    ),
    chat: t.Object(
      {
        title: field.text("Title of the message."),
        facts: t.Array(t.Object({ label: field.text("Label."), value: field.text("Value.") }), { description: "Lines of the message." }),
      },
      { description: "Message to a chat." },
    ),
    period: Period,
    mail_available: field.flag("Whether a mail server is configured. Without one, no email is sent."),
  },
  { title: "ReportPreview" },
)
export type PreviewResponse = Static<typeof PreviewResponse>

export const reportResponse = (
  report: Report,
  { states, canManage }: { states: readonly RecipientState[]; canManage: boolean },
): ReportResponse => ({
  ...{ id: report.id, kind: report.kind, channel: report.channel, recipients: [...report.recipients] },
  recipient_states: report.recipients.map((email, index) => ({ email, state: states[index] ?? "active" })),
  ...{ hour: report.hour, sections: [...report.sections], enabled: report.enabled, can_manage: canManage },
  last_sent_at: instantOrNull(report.last_sent_at),
  next_at: report.enabled ? instantText(report.next_at) : null,
  ...{ created_by: report.created_by, version: report.version },
  ...{ created_at: instantText(report.created_at), updated_at: instantText(report.updated_at) },
})

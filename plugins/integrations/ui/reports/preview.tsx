import { EmptyState, QueryResult, rangeText, useDebouncedValue } from "#plugin/ui"
import type { PreviewResponse, ReportResponse } from "../../reports/responses.ts"
import { useSiteQuery } from "./items.ts"

interface PreviewProps {
  siteId: number
  kind: ReportResponse["kind"]
  sections: readonly string[]
}

/** The email as it would be sent now, about the last whole period. */
export function Preview({ siteId, kind, sections }: PreviewProps) {
  const query = useDebouncedValue(new URLSearchParams({ kind, sections: sections.join(",") }).toString(), 250)
  const preview = useSiteQuery<PreviewResponse>(siteId, `reports/preview?${query}`, sections.length > 0)
  return (
    <section class="stack" aria-labelledby="report-preview">
      <h3 id="report-preview">Preview</h3>
      {sections.length === 0 ? (
        <EmptyState>Choose at least one section.</EmptyState>
      ) : (
        <QueryResult of={preview} rows={5}>
          {({ subject, report, period, mail_available }) => (
            <div class="stack">
              {!mail_available && (
                <p class="notice" data-kind="warn">
                  No mail server is configured, so emails can't be sent. An operator can set one with FOOTFALL_SMTP_HOST.
                </p>
              )}
              <p>
                <span class="quiet">Subject: </span>
                {subject}
              </p>
              <Email report={report} />
              <p class="small quiet">Figures for {rangeText(period.from, period.to)}. The email is sent as HTML and plain text.</p>
            </div>
          )}
        </QueryResult>
      )}
    </section>
  )
}

/**
 * The content of the email, laid out as in the email. Its own HTML could only be shown in a frame, which the content security policy of
 * the dashboard does not allow.
 */
function Email({ report: { title, days, figures, lists } }: { report: PreviewResponse["report"] }) {
  return (
    <article class="email-preview" aria-label="Email">
      <div class="email-card">
        <p class="email-title">{title}</p>
        <p class="small quiet">{days}</p>
        {figures.length > 0 && (
          <dl class="email-figures">
            {figures.map(({ label, value, change, tone }) => (
              <div key={label}>
                <dt class="small quiet">{label}</dt>
                <dd>
                  <strong>{value}</strong>
                  {change !== null && (
                    <span class="small" data-tone={tone}>
                      {change}
                    </span>
                  )}
                </dd>
              </div>
            ))}
          </dl>
        )}
        {lists.map((list) => (
          <List key={list.title} {...list} />
        ))}
        <p>
          <span class="email-button">Open the dashboard</span>
        </p>
      </div>
      <p class="small quiet">
        You receive this email because someone subscribed this address to reports about the site. <u>Unsubscribe</u>
      </p>
    </article>
  )
}

function List({ title, unit, rows }: PreviewResponse["report"]["lists"][number]) {
  return (
    <table class="email-list">
      <thead>
        <tr>
          <th scope="col">{title}</th>
          <th scope="col">{unit}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, value }, index) => (
          <tr key={index}>
            <td>{name}</td>
            <td>{value}</td>
          </tr>
        ))}
        {rows.length === 0 && (
          <tr>
            <td class="quiet" colSpan={2}>
              Nothing in this period.
            </td>
          </tr>
        )}
      </tbody>
    </table>
  )
}

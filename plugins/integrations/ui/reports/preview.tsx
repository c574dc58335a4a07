import { DescriptionList, EmptyState, QueryResult, rangeText, useDebouncedValue } from "#plugin/ui"
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
          {({ subject, chat, period, mail_available }) => (
            <div class="stack">
              {!mail_available && (
                <p class="notice" data-kind="warn">
                  No mail server is configured, so emails can't be sent. An operator can set one with FOOTFALL_SMTP_HOST.
                </p>
              )}
              <div class="email-preview stack">
                <div>
                  <p class="small quiet">Subject</p>
                  <p>
                    <strong>{subject}</strong>
                  </p>
                </div>
                <DescriptionList of={chat.facts.map(({ label, value }) => [label, <Lines key={label} text={value} />] as const)} />
              </div>
              <p class="small quiet">Figures for {rangeText(period.from, period.to)}. The email is sent as HTML and plain text.</p>
            </div>
          )}
        </QueryResult>
      )}
    </section>
  )
}

const Lines = ({ text }: { text: string }) => (
  <>
    {text.split("\n").map((line, index) => (
      <div key={index}>{line}</div>
    ))}
  </>
)

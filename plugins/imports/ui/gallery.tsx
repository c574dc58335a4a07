import { Link } from "wouter"
import { QueryResult } from "#plugin/ui"
import type { ImporterResponse } from "../responses.ts"
import { useImporters } from "./answers.ts"
import { EXPORT_GUIDES } from "./exports.ts"

/** Source of files whose product is not known: the preview detects it. */
export const DETECT = "detect"

const KINDS: Readonly<Record<string, string>> = { rows: "Individual events", aggregate: "Daily totals" }

interface GalleryProps {
  /** Returns the address of the next step with a source. */
  addressOf(source: string): string
}

/** First step: the products that can be imported from, as cards. */
export function Gallery({ addressOf }: GalleryProps) {
  const importers = useImporters()
  return (
    <QueryResult of={importers} rows={9}>
      {({ data }) => (
        <ul class="source-gallery">
          {data.map((importer) => (
            <SourceCard key={importer.source} importer={importer} href={addressOf(importer.source)} />
          ))}
          <li class="source-card">
            <h3>
              <Link href={addressOf(DETECT)}>Not sure</Link>
            </h3>
            <p class="small quiet">Choose the files you have. The preview shows which product they are from.</p>
          </li>
        </ul>
      )}
    </QueryResult>
  )
}

const SourceCard = ({ importer: { source, title, kinds, formats }, href }: { importer: ImporterResponse; href: string }) => (
  <li class="source-card">
    <h3>
      <Link href={href}>{title}</Link>
    </h3>
    <p class="small">{EXPORT_GUIDES[source]?.brings ?? kinds.map((kind) => KINDS[kind]).join(" and ")}</p>
    <p class="small quiet">
      {kinds.map((kind, index) => (index === 0 ? KINDS[kind] : KINDS[kind]?.toLowerCase())).join(" and ")} ·{" "}
      {formats.length > 0 ? formats.join(", ") : "fetched from your account"}
    </p>
  </li>
)

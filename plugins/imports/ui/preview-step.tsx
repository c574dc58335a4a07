import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import { Button, Card, Checkbox, ErrorState, exact, Problem, SelectField, Skeleton, visible } from "#plugin/ui"
import type { ColumnMapping, ImporterResponse, ImportResponse, PreviewResponse } from "../responses.ts"
import { importsAddress, importsPath, useRights, useSourceTitle } from "./answers.ts"
import { DETECT } from "./gallery.tsx"
import { accepted, MappingEditor } from "./mapping.tsx"
import { CommonOptions, type Options, SourceOptions, sourceOptions } from "./options.tsx"
import { OverlapField } from "./overlap.tsx"
import { Preview } from "./preview.tsx"
import { type Input, sendInput } from "./uploads.ts"

interface PreviewStepProps {
  siteId: number
  source: string
  importers: readonly ImporterResponse[]
  input: Input
  options: Options
  onOptions(changes: Options): void
  onOtherFiles(): void
  onConfirm(preview: PreviewResponse): void
}

/** Third step: what the import would store. Changes of the options update it; nothing is stored yet. */
export default function PreviewStep(props: PreviewStepProps) {
  const { siteId, source, importers, options, onOptions, onOtherFiles, onConfirm } = props
  const asked = usePreview(props)
  const { data: preview, error, isPlaceholderData, isFetching, refetch } = asked
  const title = useSourceTitle()
  const rights = useRights(siteId)
  const importer = importers.find((one) => one.source === (preview?.source ?? source))
  const choices = preview?.choices?.website_ids ?? (error && choicesOf(error))
  const isUnready = isPlaceholderData || isFetching || error !== null
  const mapped = mappingOf(preview, error)
  const kind = options.kind ?? mapped?.kind
  const isFetched = importer?.is_fetched === true
  const ownOptions = importer && !isFetched && sourceOptions(importer.options_schema).length > 0 && (
    <Card title={`Options of ${importer.title}`} full>
      <SourceOptions schema={importer.options_schema} options={options} set={onOptions} kind={kind} />
    </Card>
  )
  if (!preview && !error) return <Reading isFetched={isFetched} />
  return (
    <div class="stack preview" aria-busy={isFetching}>
      {preview && (
        <p>
          <strong>Nothing is stored yet.</strong>{" "}
          <span class="quiet">
            {source === DETECT ? "Detected source" : "Source"}: {title(preview.source)}.
          </span>
        </p>
      )}
      {choices && choices.length > 1 && (
        <SelectField
          label="Website"
          note="The files hold several websites. Choose the one to import."
          value={typeof options.website_id === "string" ? options.website_id : ""}
          options={[
            { value: "", label: "Choose a website" },
            ...choices.map(({ id, rows }) => ({ value: id, label: `${visible(id)} (${exact(rows)} rows)` })),
          ]}
          onValue={(id) => onOptions({ website_id: id === "" ? undefined : id })}
        />
      )}
      {mapped && ownOptions}
      {mapped && (
        <Card title="Columns" full>
          <MappingEditor of={mapped} columns={columnsOf(mapped, preview)} onMapping={(next) => onOptions({ ...next })} />
        </Card>
      )}
      {error ? (
        <Refusal error={error} onRetry={() => void refetch()} />
      ) : (
        preview && (
          <Preview siteId={siteId} preview={preview} isFetched={isFetched}>
            <OverlapField
              value={(options.overlap as ImportResponse["overlap"] | undefined) ?? "native_wins"}
              nativeStart={preview.overlap.native_start}
              allows={rights.allows}
              onValue={(overlap) => onOptions({ overlap })}
            />
          </Preview>
        )
      )}
      {!mapped && ownOptions}
      <details open={codeOf(error) === "invalid_encoding" || undefined}>
        <summary>More options</summary>
        <div class="details-body stack">
          {!isFetched && <CommonOptions options={options} set={onOptions} />}
          {rights.createsGoals && (
            <Checkbox
              label="Create a goal for each event"
              note="At most 50. Undoing the import removes those that were not changed or used since."
              checked={options.create_goals === true}
              onChange={(isOn) => onOptions({ create_goals: isOn ? true : undefined })}
            />
          )}
          <Checkbox
            label="Import even if most lines are rejected"
            note="Otherwise the import fails when more than half of the lines are rejected."
            checked={options.accept_rejects === true}
            onChange={(isOn) => onOptions({ accept_rejects: isOn ? true : undefined })}
          />
        </div>
      </details>
      <div class="step-foot">
        <Button onClick={onOtherFiles}>{isFetched ? "Change property or days" : "Choose other files"}</Button>
        {codeOf(error) === "unrecognized_source" && <Link href={`${importsAddress(siteId)}/new`}>Choose another source</Link>}
        {mapped && options.mapping === undefined && !error ? (
          <Button kind="primary" busy={isFetching} onClick={() => onOptions({ ...accepted(mapped) })}>
            Use these columns
          </Button>
        ) : (
          <Button
            kind="primary"
            busy={isFetching}
            disabled={!preview || isUnready || preview.overlap.days_effective === 0}
            onClick={() => preview && onConfirm(preview)}
          >
            Continue
          </Button>
        )}
      </div>
      <p class="visually-hidden" role="status">
        {preview && !isFetching && `Preview updated: ${exact(preview.overlap.days_effective)} days will be imported.`}
      </p>
    </div>
  )
}

const Reading = ({ isFetched }: { isFetched: boolean }) => (
  <div aria-busy="true">
    <p class="quiet" role="status">
      {isFetched ? "Fetching the daily totals from Google Analytics." : "Reading the files. This takes at most 20 seconds."}
    </p>
    <Skeleton rows={9} />
  </div>
)

/** Fetches the preview of the chosen files. An older one stays while the options change. */
const usePreview = ({ siteId, source, input, options }: PreviewStepProps) =>
  useQuery({
    queryKey: ["import-preview", siteId, input.key, source, options],
    queryFn: ({ signal }) =>
      sendInput<PreviewResponse>(`${importsPath(siteId)}/preview`, input, { ...(source !== DETECT && { source }), options }, signal),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })

const codeOf = (error: Error | null): string | undefined => (error instanceof Problem ? error.code : undefined)

/** Returns the websites among which the server asks to choose. */
const choicesOf = (error: Error): { id: string; rows: number }[] | undefined => {
  const choices = error instanceof Problem && error.code === "website_id_required" ? error.members.choices : undefined
  return Array.isArray(choices) ? choices : (choices as { website_ids?: { id: string; rows: number }[] } | undefined)?.website_ids
}

/** Returns the mapping that was used or is proposed. A proposal that is not enough comes with the refusal. */
function mappingOf(preview: PreviewResponse | undefined, error: Error | null): ColumnMapping | undefined {
  if (!error) return preview?.mapping
  const isLacking = error instanceof Problem && error.code === "mapping_required"
  return isLacking ? (error.members.mapping as ColumnMapping | undefined) : undefined
}

const columnsOf = ({ columns }: ColumnMapping, preview: PreviewResponse | undefined): readonly string[] =>
  columns ?? [...new Set((preview?.files ?? []).flatMap(({ columns: read, ignored }) => [...read, ...ignored]))]

/** Why the files can't be imported as they are. */
function Refusal({ error, onRetry }: { error: Error; onRetry(): void }) {
  const isContent = error instanceof Problem && (error.status === 422 || error.status === 413)
  if (!isContent) return <ErrorState error={error} onRetry={onRetry} />
  if (error.code === "website_id_required") return null
  const columns = Array.isArray(error.members.columns) ? error.members.columns : []
  return (
    <div class="import-note" data-kind="bad" role="alert">
      <h3>{error.members.title ?? "The files can't be imported"}</h3>
      <p>{visible(error.message)}</p>
      {columns.length > 0 && <p class="small">Missing columns: {columns.map((column) => visible(String(column))).join(", ")}</p>}
      {(error.members.errors ?? []).map(({ pointer, detail }) => (
        <p key={pointer} class="small">
          {visible(`${pointer.slice(1)}: ${detail}`)}
        </p>
      ))}
    </div>
  )
}

import { useEffect, useRef, useState } from "preact/hooks"
import { Button, bytesText, errorText, Icon, percent, visible } from "#plugin/ui"
import type { ImporterResponse } from "../responses.ts"
import { DropZone } from "./drop-zone.tsx"
import { EXPORT_GUIDES } from "./exports.ts"
import {
  beginUpload,
  bytesOf,
  continueUpload,
  discardUploads,
  type Input,
  isComplete,
  isSameFile,
  newKey,
  type SavedUploads,
  SMALL_BYTES,
  savedUploads,
  saveUploads,
  type Upload,
} from "./uploads.ts"

interface FilesStepProps {
  siteId: number
  source: string
  /** Undefined while the source is to be detected. */
  importer: ImporterResponse | undefined
  onInput(input: Input): void
}

/** Second step: how to get the files, and the field that takes them. Large files are uploaded here. */
export function FilesStep({ siteId, source, importer, onInput }: FilesStepProps) {
  const [saved, setSaved] = useState(() => ofSource(savedUploads(siteId), source))
  const work = useUploads({ siteId, source, saved, onDone: (uploads) => onInput({ key: newKey(), uploads }) })
  const limit = importer?.limits.upload_bytes
  const [tooLarge, setTooLarge] = useState<File>()
  const [isTooMany, setTooMany] = useState(false)
  const take = (files: readonly File[]) => {
    const large = files.find(({ size }) => limit !== undefined && size > limit)
    setTooLarge(large)
    if (large) return
    // Many files that are not too large together travel with each request, because the number of uploads is limited.
    const fits = bytesOf(files) <= (files.length > MAX_UPLOADS ? (importer?.limits.multipart_bytes ?? SMALL_BYTES) : SMALL_BYTES)
    setTooMany(!fits && files.length > MAX_UPLOADS)
    if (!saved && fits) onInput({ key: newKey(), files })
    else if (files.length <= MAX_UPLOADS) void work.start(files)
  }
  const discard = () => {
    work.stop()
    void discardUploads(siteId, work.uploads)
    work.reset()
    setSaved(undefined)
  }
  const isResumable = saved !== undefined && !work.isRunning
  return (
    <div class="stack">
      {EXPORT_GUIDES[source] && <p class="reading-width">{EXPORT_GUIDES[source].steps}</p>}
      {work.uploads.length > 0 && (
        <section class="stack" aria-label="Upload">
          {isResumable && (
            <p class="import-note" data-kind="warn">
              {saved.uploads.every(isComplete)
                ? "These files were uploaded before the page was reloaded."
                : "The upload was interrupted. Choose the same files again to continue where it stopped."}
            </p>
          )}
          <UploadList uploads={work.uploads} />
          <p role="status" class="small quiet">
            {work.wait === undefined
              ? work.isRunning && "Uploading. You can reload the page and continue later."
              : `Can't reach the server. The upload continues in ${Math.ceil(work.wait / 1_000)} s.`}
          </p>
          {work.problem && (
            <p class="import-note" data-kind="bad" role="alert">
              {errorText(work.problem)}
            </p>
          )}
          <div class="row">
            {isResumable && saved.uploads.every(isComplete) && (
              <Button kind="primary" onClick={() => onInput({ key: newKey(), uploads: saved.uploads })}>
                Continue to preview
              </Button>
            )}
            <Button onClick={discard}>{work.isRunning ? "Cancel upload" : "Discard upload"}</Button>
          </div>
        </section>
      )}
      {tooLarge && (
        <p class="import-note" data-kind="bad" role="alert">
          {visible(tooLarge.name)} is larger than the limit of {bytesText(limit)}. Split the file, or raise FOOTFALL_IMPORT_MAX_BYTES.
        </p>
      )}
      {isTooMany && (
        <p class="import-note" data-kind="bad" role="alert">
          At most {MAX_UPLOADS} large files can be uploaded at once. Pack them into one zip archive.
        </p>
      )}
      {!work.isRunning && !(isResumable && saved.uploads.every(isComplete)) && (
        <DropZone formats={importer?.formats ?? []} onFiles={take} />
      )}
      {importer && <Columns of={importer} />}
    </div>
  )
}

/** Uploads that a user can have at a time. */
const MAX_UPLOADS = 5

const ofSource = (saved: SavedUploads | undefined, source: string): SavedUploads | undefined =>
  saved?.source === source ? saved : undefined

const UploadList = ({ uploads }: { uploads: readonly Upload[] }) => (
  <ul class="upload-list">
    {uploads.map((upload) => (
      <li key={upload.upload_id}>
        <span class="row spread">
          <span class="cut">{visible(upload.name)}</span>
          <span class="small quiet">
            {isComplete(upload) ? (
              <>
                <Icon name="check" /> {bytesText(upload.bytes)}
              </>
            ) : (
              `${bytesText(upload.received)} of ${bytesText(upload.bytes)}, ${percent((100 * upload.received) / upload.bytes)}`
            )}
          </span>
        </span>
        <progress max={upload.bytes} value={upload.received} aria-label={`Upload of ${visible(upload.name)}`} />
      </li>
    ))}
  </ul>
)

/** The files and columns of an export, for people who made the file themselves. */
function Columns({ of: { files, columns } }: { of: ImporterResponse }) {
  const known = files.filter(({ name }) => columns[name] && columns[name].required.length > 0)
  if (known.length === 0) return null
  return (
    <details>
      <summary>Files and columns</summary>
      <dl class="facts details-body">
        {known.map(({ name }) => (
          <>
            <dt>
              <code>{name}</code>
            </dt>
            <dd class="small">
              {columns[name]!.required.join(", ")}
              {columns[name]!.optional.length > 0 && <span class="quiet"> · optional: {columns[name]!.optional.join(", ")}</span>}
            </dd>
          </>
        ))}
      </dl>
    </details>
  )
}

interface UseUploadsOptions {
  siteId: number
  source: string
  saved: SavedUploads | undefined
  onDone(uploads: readonly Upload[]): void
}

/** Uploads files one after the other, remembers how far they are, and continues interrupted uploads of the same files. */
function useUploads({ siteId, source, saved, onDone }: UseUploadsOptions) {
  const [uploads, setUploads] = useState<readonly Upload[]>(saved?.uploads ?? [])
  const [isRunning, setRunning] = useState(false)
  const [wait, setWait] = useState<number>()
  const [problem, setProblem] = useState<Error>()
  const stopped = useRef(new AbortController())
  useEffect(() => () => stopped.current.abort(), [])

  async function start(files: readonly File[]): Promise<void> {
    stopped.current = new AbortController()
    const { signal } = stopped.current
    setProblem(undefined)
    setRunning(true)
    let all: readonly Upload[] = uploads
    const store = (next: readonly Upload[]) => {
      all = next
      setUploads(all)
      saveUploads(siteId, { source, uploads: all })
    }
    const replace = (one: Upload) => store(all.map((before) => (before.upload_id === one.upload_id ? one : before)))
    try {
      for (const file of files) {
        let upload = all.find((one) => isSameFile(one, file))
        if (!upload) {
          upload = await beginUpload(siteId, file)
          store([...all, upload])
        }
        const onReceived = (one: Upload) => {
          setWait(undefined)
          replace(one)
        }
        replace(await continueUpload(siteId, upload, file, { signal, onReceived, onWait: setWait }))
      }
      if (all.every(isComplete)) onDone(all)
    } catch (error) {
      if (!signal.aborted) setProblem(error as Error) // only errors are thrown
    } finally {
      if (!signal.aborted) setRunning(false)
    }
  }

  return {
    ...{ uploads, isRunning, wait, problem, start },
    stop: () => stopped.current.abort(),
    reset() {
      setUploads([])
      setRunning(false)
      setWait(undefined)
      setProblem(undefined)
    },
  }
}

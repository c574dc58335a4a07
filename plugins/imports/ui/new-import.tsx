import { useQueryClient } from "@tanstack/react-query"
import { lazy, Suspense } from "preact/compat"
import { useEffect, useRef, useState } from "preact/hooks"
import { useLocation, useSearch } from "wouter"
import { EmptyState, Page, queryOf, Skeleton, useSiteId } from "#plugin/ui"
import type { PreviewResponse } from "../responses.ts"
import { importsAddress, useImporters, useRights } from "./answers.ts"
import { ConfirmStep } from "./confirm-step.tsx"
import { FilesStep } from "./files-step.tsx"
import { DETECT, Gallery } from "./gallery.tsx"
import type { Options } from "./options.tsx"
import type { Input } from "./uploads.ts"

const PreviewStep = lazy(() => import("./preview-step.tsx"))
const PropertyStep = lazy(() => import("./property-step.tsx"))

const STEPS = { source: "Source", files: "Files", preview: "Preview", confirm: "Confirm" } as const
type Step = keyof typeof STEPS

/** Page that leads from the choice of a product to the start of an import. The step is part of the address. */
export default function NewImport() {
  const siteId = useSiteId()
  const { writes } = useRights(siteId)
  return (
    <Page title="New import" parent={{ href: importsAddress(siteId), label: "All imports" }}>
      {writes ? (
        <Steps siteId={siteId} />
      ) : (
        <EmptyState>You need the permission to import data. An owner or admin of the organization can grant it.</EmptyState>
      )}
    </Page>
  )
}

function Steps({ siteId }: { siteId: number }) {
  const [path, navigate] = useLocation()
  const address = new URLSearchParams(useSearch())
  const source = address.get("source") ?? ""
  const { data } = useImporters()
  const importers = data?.data ?? []
  const importer = importers.find((one) => one.source === source)
  const isKnown = data !== undefined || source === DETECT
  const [input, setInput] = useState<Input>()
  const [options, setOptions] = useState<Options>({})
  const [preview, setPreview] = useState<PreviewResponse>()
  const client = useQueryClient()
  const step = stepOf(address.get("step"), { source, input, preview })
  const addressOf = (step: Step, of = source) => path + queryOf({ source: of, step: step === "files" ? "" : step })
  const go = (to: Step) => navigate(addressOf(to))
  const change = (changes: Options) =>
    setOptions((before) => Object.fromEntries(Object.entries({ ...before, ...changes }).filter(([, value]) => value !== undefined)))
  const heading = useFocusedOn(step)
  return (
    <>
      <Stepper step={step} isFetched={importer?.is_fetched === true} />
      <h2 class="step-title" ref={heading} tabIndex={-1}>
        {titleOf(step, importer?.title)}
      </h2>
      {step === "source" && <Gallery addressOf={(of) => addressOf("files", of)} />}
      {step === "files" && importer?.is_fetched && (
        <Suspense fallback={<Skeleton rows={4} />}>
          <PropertyStep
            key={source}
            siteId={siteId}
            source={source}
            onInput={(chosen, own) => {
              setInput(chosen)
              setOptions(own)
              go("preview")
            }}
          />
        </Suspense>
      )}
      {step === "files" && isKnown && !importer?.is_fetched && (
        <FilesStep
          key={source}
          siteId={siteId}
          source={source}
          importer={importer}
          onInput={(chosen) => {
            setInput(chosen)
            // Options of other files, such as a mapping, would not fit.
            setOptions({})
            go("preview")
          }}
        />
      )}
      {step === "preview" && input && (
        <Suspense fallback={<Skeleton rows={4} />}>
          <PreviewStep
            {...{ siteId, source, importers, input, options }}
            onOptions={change}
            onOtherFiles={() => go("files")}
            onConfirm={(shown) => {
              setPreview(shown)
              go("confirm")
            }}
          />
        </Suspense>
      )}
      {step === "confirm" && input && preview && (
        <ConfirmStep
          {...{ siteId, preview, input, options }}
          onBack={() => go("preview")}
          onOutdated={() => {
            client.removeQueries({ queryKey: ["import-preview", siteId] })
            go("preview")
          }}
        />
      )}
    </>
  )
}

/** Returns the step of the address, or the last one before it whose input is there: a reload forgets chosen files. */
function stepOf(wanted: string | null, given: { source: string; input: Input | undefined; preview: PreviewResponse | undefined }): Step {
  if (given.source === "") return "source"
  if (wanted === "confirm" && given.input && given.preview) return "confirm"
  return (wanted === "preview" || wanted === "confirm") && given.input ? "preview" : "files"
}

const titleOf = (step: Step, source: string | undefined): string =>
  ({
    source: "Where is your data from?",
    files: source === undefined ? "Choose your files" : `Import from ${source}`,
    preview: "Preview",
    confirm: "Start the import?",
  })[step]

/** Returns the reference of a heading that gets the focus when the step changes, so that its content is read next. */
function useFocusedOn(step: Step) {
  const heading = useRef<HTMLHeadingElement>(null)
  const before = useRef(step)
  useEffect(() => {
    if (before.current === step) return
    before.current = step
    heading.current?.focus()
  }, [step])
  return heading
}

const Stepper = ({ step, isFetched }: { step: Step; isFetched: boolean }) => {
  const names = Object.keys(STEPS) as Step[]
  return (
    <ol class="stepper" aria-label="Steps">
      {names.map((name, index) => (
        <li key={name} {...(name === step && { "aria-current": "step" as const })} data-done={index < names.indexOf(step) || undefined}>
          <span class="stepper-number" aria-hidden="true">
            {index + 1}
          </span>
          {name === "files" && isFetched ? "Property" : STEPS[name]}
        </li>
      ))}
    </ol>
  )
}

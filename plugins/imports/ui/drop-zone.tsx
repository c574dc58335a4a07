import { useId, useState } from "preact/hooks"
import { Icon } from "#plugin/ui"

interface DropZoneProps {
  /** File formats as the source names them. */
  formats: readonly string[]
  disabled?: boolean
  onFiles(files: readonly File[]): void
}

/** A field that takes files by a dialog, by dropping them, and with the keyboard. */
export function DropZone({ formats, disabled = false, onFiles }: DropZoneProps) {
  const id = useId()
  const [isOver, setOver] = useState(false)
  const take = (list: FileList | null | undefined) => {
    const files = [...(list ?? [])]
    if (files.length > 0) onFiles(files)
  }
  return (
    <div
      class="drop-zone"
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(!disabled)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        if (!disabled) take(event.dataTransfer?.files)
      }}
    >
      <Icon name="imports" />
      <p>Drop files here, or</p>
      <input
        id={id}
        class="visually-hidden"
        type="file"
        multiple
        disabled={disabled}
        aria-describedby={`${id}-note`}
        onChange={(event) => {
          take(event.currentTarget.files)
          event.currentTarget.value = ""
        }}
      />
      <label for={id} class="button" data-kind="primary">
        Choose files
      </label>
      <span id={`${id}-note`} class="small quiet">
        {formats.length > 0 ? `Accepted: ${formats.join(", ")}. Compressed files work, too.` : "Several files at once work, too."}
      </span>
    </div>
  )
}

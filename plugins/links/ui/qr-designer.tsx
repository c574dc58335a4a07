import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { Card, Checkbox, ErrorState, get, Problem, SelectField, Skeleton, TextField, visible } from "#plugin/ui"
import type { LinkResponse } from "../responses.ts"

interface Look {
  size: string
  ecc: string
  margin: string
  fg: string
  bg: string
  logo: boolean
}
const USUAL: Look = { size: "512", ecc: "M", margin: "4", fg: "#000000", bg: "#ffffff", logo: false }

const CORRECTION = [
  { value: "L", label: "Low, 7%" },
  { value: "M", label: "Medium, 15%" },
  { value: "Q", label: "High, 25%" },
  { value: "H", label: "Highest, 30%" },
]

/** Designer of the QR code with downloads as SVG and PNG. The server rejects colours that cameras could not read. */
export function QrDesigner({ link }: { link: LinkResponse }) {
  const [look, setLook] = useState(USUAL)
  const set = (changes: Partial<Look>) => setLook({ ...look, ...changes })
  const address = (format: "svg" | "png") => `${link.qr_url}?${new URLSearchParams(argumentsOf(look, format))}`
  const picture = useQuery({
    queryKey: ["qr", address("svg"), link.short_url],
    // An image element cannot show why it failed, so the first request asks for the reason.
    queryFn: async ({ signal }) => {
      await get(address("svg"), signal)
      return address("svg")
    },
    placeholderData: (before) => before,
    retry: false,
  })
  const errorOf = (name: string) =>
    picture.error instanceof Problem ? picture.error.members.errors?.find(({ pointer }) => pointer === `/${name}`)?.detail : undefined
  return (
    <Card title="QR code" foot="Scans are counted separately.">
      <div class="qr-designer">
        <div class="qr-picture" aria-busy={picture.isPlaceholderData}>
          {picture.error ? (
            <ErrorState error={picture.error} />
          ) : picture.data ? (
            <img src={picture.data} alt={`QR code of ${visible(link.short_url)}`} />
          ) : (
            <Skeleton rows={4} />
          )}
        </div>
        {picture.data && !picture.error && (
          <div class="qr-files">
            <a class="button" href={address("svg")} download={`${link.slug}.svg`}>
              Download SVG
            </a>
            <a class="button" href={address("png")} download={`${link.slug}.png`}>
              Download PNG
            </a>
          </div>
        )}
      </div>
      <details>
        <summary>Size and colours</summary>
        <div class="stack details-body">
          <div class="narrow-fields">
            <TextField
              label="Size (px)"
              type="number"
              min={64}
              max={2048}
              value={look.size}
              onValue={(size) => set({ size })}
              error={errorOf("size")}
            />
            <TextField
              label="Margin (modules)"
              type="number"
              min={0}
              max={16}
              value={look.margin}
              onValue={(margin) => set({ margin })}
              error={errorOf("margin")}
            />
            <TextField label="Colour" code value={look.fg} onValue={(fg) => set({ fg })} error={errorOf("fg")} />
            <TextField label="Background" code value={look.bg} onValue={(bg) => set({ bg })} error={errorOf("bg")} />
          </div>
          <SelectField
            label="Error correction"
            value={look.logo ? "H" : look.ecc}
            onValue={(ecc) => set({ ecc })}
            options={CORRECTION}
            disabled={look.logo}
          />
          <Checkbox
            label="Leave space for a logo"
            note="Uses the highest error correction."
            checked={look.logo}
            onChange={(logo) => set({ logo })}
          />
        </div>
      </details>
    </Card>
  )
}

const argumentsOf = ({ size, ecc, margin, fg, bg, logo }: Look, format: string): Record<string, string> => ({
  ...{ format, size, margin, fg, bg },
  ...(logo ? { logo: "true", ecc: "H" } : { ecc }),
})

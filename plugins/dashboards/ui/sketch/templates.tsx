import { TEMPLATES } from "../../templates.ts"
import { LayoutSketch } from "./layout-sketch.tsx"

export type TemplateName = keyof typeof TEMPLATES

export const TEMPLATE_TEXTS: Readonly<Record<TemplateName, { name: string; text: string }>> = {
  marketing: { name: "Marketing", text: "Where visitors come from, campaigns, landing pages and conversions." },
  content: { name: "Content", text: "What people read and for how long, and where readers enter and leave." },
  product: { name: "Product", text: "Who is there now, events and goals, devices and speed." },
}

/** The three templates as cards with a sketch of their layout. */
export const Templates = ({ onChoose, chosen }: { onChoose(name: TemplateName): void; chosen?: TemplateName | undefined }) => (
  <div class="templates">
    {(Object.keys(TEMPLATE_TEXTS) as TemplateName[]).map((name) => (
      <button key={name} type="button" class="template" aria-pressed={chosen === name} onClick={() => onChoose(name)}>
        <LayoutSketch widgets={TEMPLATES[name]} />
        <strong>{TEMPLATE_TEXTS[name].name}</strong>
        <span class="small quiet">{TEMPLATE_TEXTS[name].text}</span>
      </button>
    ))}
  </div>
)

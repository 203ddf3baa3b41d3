"""Drawn pages: a picture, the words on it, and where each field stands."""

import io
from dataclasses import dataclass, field
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from inference.document_types import shipped_schema

Box = tuple[float, float, float, float]
WIDTH, HEIGHT = 900, 1400


@dataclass(frozen=True)
class Drawn:
    """A page as it is stored, its words with their boxes, and the boxes of its fields by path."""

    jpeg: bytes
    words: list[tuple[str, Box]]
    boxes: dict[str, Box] = field(default_factory=dict)
    width: int = WIDTH
    height: int = HEIGHT


def draw(lines: list[tuple[int, int, int, str, str]]) -> Drawn:
    """Draw lines of (x, y, font size, text, field path or "")."""
    image = Image.new("RGB", (WIDTH, HEIGHT), "white")
    canvas = ImageDraw.Draw(image)
    words: list[tuple[str, Box]] = []
    boxes: dict[str, Box] = {}
    for x, y, size, text, path in lines:
        font = ImageFont.load_default(size)
        canvas.text((x, y), text, fill="black", font=font)
        x0, y0, x1, y1 = canvas.textbbox((x, y), text, font=font)
        box = (x0 / WIDTH, y0 / HEIGHT, x1 / WIDTH, y1 / HEIGHT)
        words.append((text, box))
        if path:
            kept = boxes.get(path, box)
            boxes[path] = (min(kept[0], box[0]), kept[1], max(kept[2], box[2]), box[3])
    file = io.BytesIO()
    image.save(file, "JPEG", quality=80)
    return Drawn(file.getvalue(), words, boxes)


RECEIPT = draw(
    [
        (150, 80, 34, "BOOK TA K (TAMAN DAYA) SDN BHD", "/company"),
        (220, 140, 26, "NO.53 55, JALAN SAGU 18", "/address"),
        (220, 175, 26, "TAMAN DAYA", "/address"),
        (220, 210, 26, "81100 JOHOR BAHRU", "/address"),
        (80, 330, 28, "Date: 25/12/2018", "/date"),
        (80, 430, 28, "KF MODELLING CLAY", ""),
        (700, 430, 28, "9.00", ""),
        (80, 560, 32, "Total", ""),
        (700, 560, 32, "9.00", "/total"),
        (80, 640, 28, "Cash", ""),
        (700, 640, 28, "10.00", ""),
        (80, 690, 28, "Change", ""),
        (700, 690, 28, "1.00", ""),
        (80, 800, 26, "Thank you, come again", ""),
    ]
)
PLAIN = draw([(150, 80, 34, "Terms and conditions", ""), (80, 200, 26, "Goods sold are not returnable.", "")])
INVOICE = draw(
    [
        (80, 80, 40, "INVOICE", ""),
        (80, 300, 26, "Copy paper A4", "/line_items/0/description"),
        (560, 300, 26, "2", "/line_items/0/quantity"),
        (720, 300, 26, "12.00", "/line_items/0/amount"),
        (80, 360, 26, "Ring binder", "/line_items/1/description"),
        (560, 360, 26, "1", "/line_items/1/quantity"),
        (720, 360, 26, "4.50", "/line_items/1/amount"),
        (80, 420, 26, "Pen blue", "/line_items/2/description"),
        (560, 420, 26, "10", "/line_items/2/quantity"),
        (720, 420, 26, "7.60", "/line_items/2/amount"),
        (80, 520, 30, "Total", ""),
        (720, 520, 30, "24.10", "/total"),
    ]
)
DENSE = draw(
    [(20 + column * 43, 20 + row * 27, 13, f"{row:02d}.{column:02d}", "") for row in range(50) for column in range(20)]
    + [(40 + column * 43, 33 + row * 27, 12, f"w{row}", "") for row in range(50) for column in range(20)]
    + [(400, 1370, 20, "9.00", "/total")]
)


def _leaf(en: str, zh: str, kind: str) -> dict[str, Any]:
    return {"type": ["string", "null"], "x-label": {"en": en, "zh": zh}, "x-value-type": kind}


SCHEMAS: dict[str, dict[str, Any]] = {
    "invoice": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "x-label": {"en": "Invoice", "zh": "发票"},
        "x-locale": "en-GB",
        "properties": {
            "total": _leaf("Total", "合计", "amount"),
            "line_items": {
                "type": "array",
                "x-label": {"en": "Items", "zh": "明细"},
                "items": {
                    "type": "object",
                    "properties": {
                        "description": _leaf("Description", "品名", "text"),
                        "quantity": _leaf("Quantity", "数量", "number"),
                        "amount": _leaf("Amount", "金额", "amount"),
                    },
                },
            },
        },
    },
    "ruled": shipped_schema("invoice"),
}

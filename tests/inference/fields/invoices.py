"""Invoices drawn from a list of texts: as a raster for the real engine, and as the words a perfect reader returns."""

from dataclasses import dataclass, field

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from inference.types import BBox, PageImage, PageReading, Word

WIDTH, HEIGHT = 1000, 1400
SIZE = 22


@dataclass(frozen=True)
class Printed:
    """One text at (x, y) in pixels; `right` aligns it to x instead of starting there."""

    text: str
    x: int
    y: int
    size: int = SIZE
    right: bool = False

    def extent(self) -> tuple[float, float]:
        """(left, width) in pixels; Chinese characters are as wide as they are high."""
        width = sum(self.size if ord(character) > 0x2E80 else self.size * 0.55 for character in self.text)
        return (self.x - width if self.right else float(self.x)), width


@dataclass(frozen=True)
class Invoice:
    """What is printed and what a correct reading says."""

    name: str
    printed: tuple[Printed, ...]
    expected: dict[str, str]
    language: str = "en"
    extra: dict[str, str] = field(default_factory=dict)

    def reading(self, score: float = 0.99) -> PageReading:
        """Return the words without any raster."""
        words = []
        for item in self.printed:
            left, width = item.extent()
            box = BBox(left / WIDTH, item.y / HEIGHT, (left + width) / WIDTH, (item.y + item.size * 1.1) / HEIGHT)
            words.append(Word(item.text, box, score))
        return PageReading(WIDTH, HEIGHT, tuple(words), 0.0)

    def image(self) -> PageImage:
        """Draw the page in a font that comes with Pillow; only for Latin text."""
        canvas = Image.new("RGB", (WIDTH, HEIGHT), "white")
        draw = ImageDraw.Draw(canvas)
        for item in self.printed:
            font = ImageFont.load_default(item.size)
            anchor = "ra" if item.right else "la"
            draw.text((item.x, item.y), item.text, fill="black", font=font, anchor=anchor)
        return PageImage(np.asarray(canvas), 1)


def _table(y: int, header: list[str], rows: list[list[str]], columns: list[tuple[int, bool]]) -> list[Printed]:
    printed = []
    for number, row in enumerate([header, *rows]):
        for text, (x, right) in zip(row, columns, strict=True):
            if text:
                printed.append(Printed(text, x, y + 40 * number, right=right))
    return printed


def _totals(y: int, lines: list[tuple[str, str]]) -> list[Printed]:
    printed = []
    for number, (label, amount) in enumerate(lines):
        printed += [Printed(label, 620, y + 42 * number), Printed(amount, 940, y + 42 * number, right=True)]
    return printed


COLUMNS = [(60, False), (560, True), (740, True), (940, True)]

PLAIN = Invoice(
    "plain",
    (
        Printed("Northwind Supplies Ltd", 60, 60, 34),
        Printed("12 Harbour Street, Bristol BS1 4QA", 60, 110),
        Printed("Tel: 0117 496 0123", 60, 142),
        Printed("INVOICE", 760, 60, 34),
        Printed("Invoice No: INV-2024-0117", 600, 130),
        Printed("Invoice Date: 05/03/2024", 600, 166),
        Printed("Due Date: 04/04/2024", 600, 202),
        Printed("Bill To:", 60, 260),
        Printed("Acme Trading Limited", 60, 294),
        Printed("7 Mill Road, Leeds LS1 2AB", 60, 328),
        *_table(
            420,
            ["Description", "Qty", "Unit Price", "Amount"],
            [
                ["Blue widget, large", "4", "12.50", "50.00"],
                ["Steel bracket", "10", "3.20", "32.00"],
                ["Delivery", "1", "18.00", "18.00"],
            ],
            COLUMNS,
        ),
        *_totals(700, [("Subtotal", "100.00"), ("VAT 20%", "20.00"), ("Total Due", "£120.00")]),
        Printed("Payment within 30 days. Thank you for your business.", 60, 1200),
    ),
    {
        "/number": "INV-2024-0117",
        "/date": "2024-03-05",
        "/seller": "Northwind Supplies Ltd",
        "/buyer": "Acme Trading Limited",
        "/net": "100.00",
        "/tax": "20.00",
        "/gross": "120.00",
        "/line_items/0/description": "Blue widget, large",
        "/line_items/0/quantity": "4",
        "/line_items/0/unit_price": "12.50",
        "/line_items/0/amount": "50.00",
        "/line_items/1/description": "Steel bracket",
        "/line_items/1/quantity": "10",
        "/line_items/1/unit_price": "3.20",
        "/line_items/1/amount": "32.00",
        "/line_items/2/description": "Delivery",
        "/line_items/2/quantity": "1",
        "/line_items/2/unit_price": "18.00",
        "/line_items/2/amount": "18.00",
    },
)

LABELS_ABOVE = Invoice(
    "labels_above",
    (
        Printed("Silverline Services Inc", 60, 50, 30),
        Printed("Invoice Number", 60, 150),
        Printed("Date of Issue", 380, 150),
        Printed("Due Date", 700, 150),
        Printed("A10493", 60, 186),
        Printed("17 MAR 2023", 380, 186),
        Printed("16 APR 2023", 700, 186),
        Printed("Customer: Fairview Group PLC", 60, 260),
        *_table(
            380,
            ["Item", "Hours", "Rate", "Line Total"],
            [
                ["Consulting, first phase", "12.5", "1,080.00", "13,500.00"],
                ["including travel", "", "", ""],
                ["Training day", "2", "950.00", "1,900.00"],
            ],
            COLUMNS,
        ),
        *_totals(640, [("Net Amount", "15,400.00"), ("Sales Tax", "1,232.00"), ("Grand Total", "16,632.00")]),
    ),
    {
        "/number": "A10493",
        "/date": "2023-03-17",
        "/seller": "Silverline Services Inc",
        "/buyer": "Fairview Group PLC",
        "/net": "15400.00",
        "/tax": "1232.00",
        "/gross": "16632.00",
        "/line_items/0/description": "Consulting, first phase including travel",
        "/line_items/0/quantity": "12.5",
        "/line_items/0/unit_price": "1080.00",
        "/line_items/0/amount": "13500.00",
        "/line_items/1/description": "Training day",
        "/line_items/1/quantity": "2",
        "/line_items/1/unit_price": "950.00",
        "/line_items/1/amount": "1900.00",
    },
)

WITHOUT_TAX = Invoice(
    "without_tax",
    (
        Printed("Invoice # 2291", 60, 60, 28),
        Printed("Date: 2022-11-30", 60, 110),
        Printed("From: Riverside Catering Co", 60, 170),
        Printed("Bill to: Oak Primary School", 60, 206),
        *_table(
            300,
            ["Product", "Quantity", "Price", "Total"],
            [["Lunch boxes", "25", "6.40", "160.00"], ["Fruit basket", "3", "14.00", "42.00"]],
            COLUMNS,
        ),
        *_totals(520, [("Total", "202.00")]),
    ),
    {
        "/number": "2291",
        "/date": "2022-11-30",
        "/seller": "Riverside Catering Co",
        "/buyer": "Oak Primary School",
        "/gross": "202.00",
        "/line_items/0/description": "Lunch boxes",
        "/line_items/0/quantity": "25",
        "/line_items/0/unit_price": "6.40",
        "/line_items/0/amount": "160.00",
        "/line_items/1/description": "Fruit basket",
        "/line_items/1/quantity": "3",
        "/line_items/1/unit_price": "14.00",
        "/line_items/1/amount": "42.00",
    },
)

CHINESE = Invoice(
    "chinese",
    (
        Printed("增值税普通发票", 380, 50, 30),
        Printed("发票号码：24312000000123456789", 600, 120),
        Printed("开票日期：2024年03月05日", 600, 156),
        Printed("购买方名称：上海晨光贸易有限公司", 60, 230),
        Printed("纳税人识别号：91310000MA1FL0XX3T", 60, 266),
        Printed("销售方名称：北京蓝天科技有限公司", 540, 230),
        Printed("纳税人识别号：91110108MA01ABCD5X", 540, 266),
        *_table(
            360,
            ["项目名称", "数量", "单价", "金额"],
            [["办公用纸", "20", "25.00", "500.00"], ["打印机硒鼓", "2", "350.00", "700.00"]],
            COLUMNS,
        ),
        *_totals(600, [("合计金额", "¥1,200.00"), ("合计税额", "¥156.00"), ("价税合计", "¥1,356.00")]),
    ),
    {
        "/number": "24312000000123456789",
        "/date": "2024-03-05",
        "/seller": "北京蓝天科技有限公司",
        "/buyer": "上海晨光贸易有限公司",
        "/net": "1200.00",
        "/tax": "156.00",
        "/gross": "1356.00",
        "/line_items/0/description": "办公用纸",
        "/line_items/0/quantity": "20",
        "/line_items/0/unit_price": "25.00",
        "/line_items/0/amount": "500.00",
        "/line_items/1/description": "打印机硒鼓",
        "/line_items/1/quantity": "2",
        "/line_items/1/unit_price": "350.00",
        "/line_items/1/amount": "700.00",
    },
    language="zh",
)

INVOICES = (PLAIN, LABELS_ABOVE, WITHOUT_TAX, CHINESE)
